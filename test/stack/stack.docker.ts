import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../infra/ports.ts';
import { Asking } from './asking.js';
import { docker, ownBytes, Stack } from './docker.js';

const minutes = 60_000;
const image = 'sluice:local';
const parts = ['kafka', 'registry', 'postgres', 'filter', 'agent', 'executor', 'audit', 'prometheus', 'grafana'];
const question = ['ask', 'What is the capital of Japan?', '--group', 'read-only', '--json'];

/** For whoever reads the test's lines: figures are no conditions. */
function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function eventually(what: string, good: () => Promise<boolean>): Promise<void> {
  for (const until = Date.now() + 3 * minutes; !(await good());) {
    if (Date.now() > until) throw new Error(`Not within 3 minutes: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

describe('the stack', () => {
  let stack: Stack;
  let ports: { kafka: number; prometheus: number };
  let asking: Asking | undefined;

  beforeAll(async () => {
    const [kafka, registry, prometheus, grafana] = [
      await freePort(),
      await freePort(),
      await freePort(),
      await freePort(),
    ];
    ports = { kafka, prometheus };
    stack = await Stack.open(`sluice-${randomBytes(4).toString('hex')}`, {
      KAFKA_PORT: String(kafka),
      REGISTRY_PORT: String(registry),
      PROMETHEUS_PORT: String(prometheus),
      GRAFANA_PORT: String(grafana),
    });
    await stack.compose('build');
  }, 15 * minutes);
  afterAll(async () => {
    await asking?.stop();
    await stack.compose('down', '--volumes', '--remove-orphans');
  }, 5 * minutes);

  const answers = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
    const lines = await stack.sluice('tail', '--topic', 'agent.responses', '--from', 'start', '--once', '--json');
    const responses = lines
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => (JSON.parse(line) as { record: { request_id: string; kind: string } }).record);
    return new Map(
      [...Map.groupBy(responses, (response) => response.request_id)].map(([id, of]) => [
        id,
        of.map(({ kind }) => kind),
      ]),
    );
  };
  const up = async (query: string): Promise<number> => {
    const address = `http://127.0.0.1:${ports.prometheus}/api/v1/query?query=${encodeURIComponent(query)}`;
    const { data } = (await (await fetch(address)).json()) as { data: { result: { value: [number, string] }[] } };
    return Number(data.result[0]?.value[1] ?? 0);
  };

  it(
    'is made of an image that adds less than 150 MB to its base, with no second Node and no secret in it',
    async () => {
      const bytes = await ownBytes(image);
      say(`The image adds ${Math.round(bytes / 1e6)} MB to its base.`);
      expect(bytes).toBeLessThan(150e6);
      const inside = await docker(
        'run',
        '--rm',
        '--entrypoint',
        'sh',
        image,
        '-c',
        'id -un; find / -name "keys.json" -o -name node -type f -perm -1 -size +1M 2>/dev/null',
      );
      expect(inside.trim().split('\n')).toEqual(['node', '/usr/local/bin/node']);
    },
    2 * minutes,
  );

  it(
    'is ready without a step by hand, and answers',
    async () => {
      const began = performance.now();
      await stack.compose('up', '--detach');
      await stack.ready();
      say(`Ready after ${((performance.now() - began) / 1_000).toFixed(1)} s.`);
      expect(JSON.parse((await stack.sluice(...question)).trim())).toMatchObject({
        kind: 'answer',
        answer: expect.stringContaining('Tokyo'),
      });
    },
    10 * minutes,
  );

  it(
    'is watched by Prometheus, every instance of every role, also when there are three executors',
    async () => {
      await stack.compose('up', '--detach', '--scale', 'executor=3');
      await stack.ready();
      await eventually(
        'three executors, one filter, one agent',
        async () =>
          (await up('sum(up{job="sluice",role="executor"})')) === 3 &&
          (await up('sum(up{job="sluice",role=~"filter|agent"})')) === 2,
      );
      expect(await stack.containers('executor')).toHaveLength(3);
    },
    10 * minutes,
  );

  it.each(parts)(
    '%s may be killed while questions come: it comes back',
    async (part) => {
      asking ??= await Asking.start(`127.0.0.1:${ports.kafka}`, 250);
      const before = asking.asked.length;
      for (const container of await stack.containers(part)) await docker('kill', container);
      for (const container of await stack.containers(part)) await docker('start', container);
      await stack.ready();
      await eventually('more questions', async () => Promise.resolve((asking?.asked.length ?? 0) > before + 4));
    },
    10 * minutes,
  );

  it(
    'may be restarted as a whole while questions come',
    async () => {
      await stack.compose('restart');
      await stack.ready();
    },
    10 * minutes,
  );

  it(
    'has answered every question of this time, once',
    async () => {
      const asked = (await asking?.stop()) ?? [];
      asking = undefined;
      expect(asked.length).toBeGreaterThan(5 * parts.length);
      let ended: ReadonlyMap<string, readonly string[]> = new Map();
      await eventually('an answer to each', async () => {
        ended = await answers();
        return asked.every((id) => ended.has(id));
      });
      say(`${asked.length} questions, each with its answer.`);
      for (const id of asked) expect([id, ended.get(id)]).toEqual([id, ['answer']]);
    },
    10 * minutes,
  );

  it(
    'has kept within its memory',
    async () => {
      for (const part of parts)
        for (const { State } of await stack.inspect(part)) expect([part, State.OOMKilled]).toEqual([part, false]);
    },
    2 * minutes,
  );

  it(
    'keeps its secrets and its configuration when it is taken down and brought up again',
    async () => {
      const versions = await stack.sluice('config', 'list');
      await stack.compose('down');
      await stack.compose('up', '--detach');
      await stack.ready();
      expect(await stack.sluice('config', 'list')).toBe(versions);
      expect(JSON.parse((await stack.sluice(...question)).trim())).toMatchObject({ kind: 'answer' });
    },
    10 * minutes,
  );
});
