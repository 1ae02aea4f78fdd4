import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../infra/ports.ts';
import { docker, Stack } from './docker.js';
import { eventually, say } from './eventually.js';
import { Watching } from './watching.js';

const minutes = 60_000;
const brokers = ['kafka', 'kafka-2', 'kafka-3'];
const files = ['docker-compose.yml', 'compose.cluster.yml', 'compose.load.yml'];

describe('the stack on three brokers', () => {
  let stack: Stack;
  let watching: Watching;

  beforeAll(async () => {
    const names = [
      'KAFKA_PORT',
      'KAFKA_2_PORT',
      'KAFKA_3_PORT',
      'REGISTRY_PORT',
      'PROMETHEUS_PORT',
      'GRAFANA_PORT',
      'GATEWAY_PORT',
    ];
    const ports: Record<string, number> = {};
    for (const name of names) ports[name] = await freePort();
    const { PROMETHEUS_PORT: prometheus = 0, GRAFANA_PORT: grafana = 0 } = ports;
    watching = new Watching({ prometheus, grafana });
    const environment = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)]));
    stack = await Stack.open(`sluice-${randomBytes(4).toString('hex')}`, environment, files);
    await stack.compose('build');
  }, 15 * minutes);
  afterAll(async () => {
    await stack.compose('down', '--volumes', '--remove-orphans');
  }, 5 * minutes);

  const described = (...what: string[]): Promise<string> =>
    stack.compose(
      'exec',
      '-T',
      'kafka',
      '/opt/kafka/bin/kafka-topics.sh',
      '--bootstrap-server',
      'kafka:19092',
      ...what,
    );
  const ended = async (): Promise<number> => (await watching.value('sum(sluice_runs_ended_total)')) ?? 0;

  it(
    'is ready without a step by hand, with three copies of everything',
    async () => {
      const began = performance.now();
      await stack.compose('up', '--detach');
      await stack.ready();
      say(`Three brokers: ready after ${((performance.now() - began) / 1_000).toFixed(1)} s.`);
      const copies = [...(await described('--describe')).matchAll(/Topic: (\S+).*ReplicationFactor: (\d+)/g)];
      expect(copies.length).toBeGreaterThan(10);
      for (const [, topic, factor] of copies) expect([topic, factor]).toEqual([topic, '3']);
    },
    10 * minutes,
  );

  it.each(brokers)(
    '%s may go while a load is on: each request ends as it should, and the broker comes back',
    async (broker) => {
      const before = await ended();
      let over = false;
      const load = stack.sluice('load', '--rate', '10', '--for', '1m', '--json').finally(() => (over = true));
      const away = (async () => {
        await eventually('the first answers', async () => over || (await ended()) > before + 20);
        if (!over) for (const container of await stack.containers(broker)) await docker('kill', container);
      })();
      const [said] = await Promise.all([load, away]);
      say(`${broker} away: ${said.trim()}`);
      expect(JSON.parse(said)).toMatchObject({ sent: 600, ended: 600, unanswered: 0, unexpected: 0 });
      await stack.compose('start', broker);
      await stack.ready();
      await eventually(
        'all copies in step again',
        async () => (await described('--describe', '--under-replicated-partitions')).trim() === '',
      );
    },
    10 * minutes,
  );

  it(
    'has an audit that proves that nothing is missing',
    async () => {
      expect(await stack.sluice('audit', 'verify')).toContain('Nothing was changed, dropped, inserted or moved');
    },
    2 * minutes,
  );
});
