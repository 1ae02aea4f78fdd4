import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openArchive } from '@sluice/archive';
import { freePort } from '../infra/ports.ts';
import { Asking } from './asking.js';
import { crash, docker, memory, ownBytes, Stack } from './docker.js';
import { eventually, say } from './eventually.js';
import { Watching } from './watching.js';

const minutes = 60_000;
const image = 'sluice:local';
const parts = [
  'kafka',
  'registry',
  'postgres',
  'filter',
  'agent',
  'executor',
  'audit',
  'gateway',
  'proxy',
  'notifier',
  'prometheus',
  'grafana',
];
const question = ['ask', 'What is the capital of Japan?', '--group', 'read-only', '--json'];

describe('the stack', () => {
  const project = `sluice-${randomBytes(4).toString('hex')}`;
  let stack: Stack;
  /** The same with what a load wants. */
  let loaded: Stack;
  let kafkaPort: number;
  let gatewayPort: number;
  let watching: Watching;
  let asking: Asking | undefined;

  beforeAll(async () => {
    const [kafka, registry, prometheus, grafana, gateway] = [
      await freePort(),
      await freePort(),
      await freePort(),
      await freePort(),
      await freePort(),
    ];
    kafkaPort = kafka;
    gatewayPort = gateway;
    watching = new Watching({ prometheus, grafana });
    const environment = {
      KAFKA_PORT: String(kafka),
      REGISTRY_PORT: String(registry),
      PROMETHEUS_PORT: String(prometheus),
      GRAFANA_PORT: String(grafana),
      GATEWAY_PORT: String(gateway),
    };
    stack = await Stack.open(project, environment);
    loaded = await Stack.open(project, environment, ['docker-compose.yml', 'compose.load.yml']);
    volumesBefore = await volumes();
    await stack.compose('build');
  }, 15 * minutes);
  const volumes = async (): Promise<readonly string[]> => (await docker('volume', 'ls', '-q')).trim().split('\n');
  let volumesBefore: readonly string[] = [];
  afterAll(async () => {
    await asking?.stop();
    await loaded.compose('down', '--volumes', '--remove-orphans');
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
  /** When each container was started: what crashes is started again. */
  const started = async (): Promise<readonly string[]> =>
    (await Promise.all(parts.map((part) => stack.inspect(part))))
      .flat()
      .map(({ Name, State }) => `${Name} ${State.StartedAt}`);

  it(
    'is made of an image that adds less than 150 MB to its base, with no second Node and no secret in it',
    async () => {
      const bytes = await ownBytes(image);
      say(`The image adds ${Math.round(bytes / 1e6)} MB to its base.`);
      expect(bytes).toBeLessThan(150e6);
      const inside = (...run: string[]) => docker('run', '--rm', '--entrypoint', 'sh', ...run);
      expect((await inside(image, '-c', 'id -un')).trim()).toBe('node');
      // By root, who may look into every folder.
      const found = 'find / -xdev -name keys.json -o -xdev -name node -type f -perm -1 -size +1M';
      expect((await inside('--user', '0', image, '-c', found)).trim()).toBe('/usr/local/bin/node');
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
    'answers over HTTP as well, at a port of the host',
    async () => {
      const response = await fetch(`http://127.0.0.1:${gatewayPort}/v1/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', prefer: 'wait=30' },
        body: JSON.stringify({ question: 'What is the capital of Japan?', group: ['read-only'] }),
      });
      expect([response.status, await response.json()]).toMatchObject([
        200,
        { kind: 'answer', answer: expect.stringContaining('Tokyo') },
      ]);
    },
    minutes,
  );

  it.each([
    [{ KAFKA_BROKERS: 'kafka' }, 'KAFKA_BROKERS holds "kafka"; each broker is host:port'],
    [{ SLUICE_PARTITIONS: '0' }, 'SLUICE_PARTITIONS is "0"; it must be a whole number from 1'],
    [
      { SLUICE_KEYS_FILE: '/run/sluice/none' },
      'SLUICE_KEYS_FILE names the file /run/sluice/none, which cannot be read',
    ],
    [{ DATABASE_URL_FILE: '/run/sluice/none' }, 'DATABASE_URL_FILE names the file /run/sluice/none, which cannot be'],
  ])(
    'says which variable is wrong, and ends with 1 instead of waiting: %j',
    async (wrong: Record<string, string>, sentence) => {
      const variables = Object.entries(wrong).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
      await expect(stack.compose('run', '--rm', '--no-deps', '-T', ...variables, 'filter')).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining(sentence),
      });
    },
    minutes,
  );

  it(
    'is watched by Prometheus, every instance of every role, also when there are three executors',
    async () => {
      await stack.compose('up', '--detach', '--scale', 'executor=3');
      await stack.ready();
      await eventually(
        'three executors, one filter, one agent',
        async () =>
          (await watching.value('sum(up{job="sluice",role="executor"})')) === 3 &&
          (await watching.value('sum(up{job="sluice",role=~"filter|agent"})')) === 2,
      );
      expect(await stack.containers('executor')).toHaveLength(3);
    },
    10 * minutes,
  );

  it.each(parts)(
    '%s may be killed while questions come: it comes back',
    async (part) => {
      asking ??= await Asking.start(`127.0.0.1:${kafkaPort}`, 250);
      const before = asking.asked.length;
      await Promise.all((await stack.containers(part)).map((container) => crash(container, image)));
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
    'has not lost a record of what its audit tells, nor of what Prometheus saw',
    async () => {
      expect(await stack.sluice('audit', 'verify')).toContain('Nothing was changed, dropped, inserted or moved');
      expect(await watching.value('count(up{job="prometheus"} offset 2m)')).toBe(1);
    },
    2 * minutes,
  );

  it(
    'gives its log away as an export, though its containers may write no file',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-stack-'));
      const file = join(folder, 'log.sluice');
      await stack.sluiceInto(file, 'export', '-');
      expect((await openArchive(file)).trailer).toMatchObject({ undecodable: 0 });
      const mounted = ['run', '--rm', '-T', '-v', `${file}:/log.sluice:ro`, 'sluice'];
      expect(await stack.compose(...mounted, 'audit', 'verify', '--export', '/log.sluice')).toContain(
        'Nothing was changed, dropped, inserted or moved',
      );
      await expect(stack.sluice('export', 'log.sluice')).rejects.toMatchObject({
        stderr: expect.stringContaining('or - for standard output'),
      });
      rmSync(folder, { recursive: true });
    },
    2 * minutes,
  );

  it(
    'has raised no alert, though each of its parts was killed',
    async () => {
      await eventually('every rule evaluated', async () => (await watching.rules()).broken.length === 0);
      expect((await watching.rules()).all).toBeGreaterThan(20);
      expect(await watching.woken()).toEqual([]);
    },
    4 * minutes,
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

  it(
    'shows data in every panel under a load, and keeps within its memory',
    async () => {
      await loaded.compose('up', '--detach', '--scale', 'executor=3');
      await loaded.ready();
      const before = await started();
      const load = loaded.sluice('load', '--rate', '20', '--for', '3m', '--json');
      let silent: readonly string[] = [];
      const shown = eventually('data in every panel', async () => {
        silent = await watching.silentPanels();
        return silent.length === 0;
      }).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${silent.join('\n')}`);
      });
      const [ended] = await Promise.all([load, shown]);
      say((await memory(project)).join('\n'));
      expect(JSON.parse(ended)).toMatchObject({ sent: 3_600, ended: 3_600, unanswered: 0, unexpected: 0 });
      expect(await started()).toEqual(before);
      for (const part of parts)
        for (const { State } of await stack.inspect(part)) expect([part, State.OOMKilled]).toEqual([part, false]);
    },
    15 * minutes,
  );

  it(
    'raises an alert for what the load does that deserves it, and for nothing else',
    async () => {
      await eventually('the alert', async () => (await watching.woken()).length > 0);
      expect(await watching.woken()).toEqual(['SluiceEscalationAttempt']);
    },
    4 * minutes,
  );

  it(
    'leaves no volume behind, also of the containers that were taken down before',
    async () => {
      await loaded.compose('down', '--volumes', '--remove-orphans');
      expect((await volumes()).filter((name) => !volumesBefore.includes(name))).toEqual([]);
    },
    5 * minutes,
  );
});
