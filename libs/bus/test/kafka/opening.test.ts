import { beforeAll, describe, expect, it } from '@jest/globals';
import { openKafkaBus } from '@sluice/bus';
import type { KafkaBusOptions } from '@sluice/bus';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { all, eventually, request, testMs } from '../contract/harness.js';
import { closedPort, gatewayTo } from './away.js';
import { aProcess, makeTopics, onKafka, optionsHere, withAdmin } from './on-broker.js';

/** Opens, and tells what is logged; `ending` gives up. */
function opening(options: KafkaBusOptions) {
  const logged: string[] = [];
  const ending = new AbortController();
  const log = (_: string, message: string) => logged.push(message);
  const opened = openKafkaBus({ ...options, log, signal: ending.signal });
  // Looked at when the test has seen what is logged.
  opened.catch(() => undefined);
  return { opened, logged, ending };
}

describe('opening', () => {
  beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

  it(
    'says where no broker is and goes on trying, until it is stopped',
    async () => {
      const broker = `127.0.0.1:${await closedPort()}`;
      const { opened, logged, ending } = opening(await optionsHere({ brokers: [broker] }));
      await eventually('a word about the broker', () => logged.some((line) => line.startsWith('The log cannot')));
      const sentence = `The log cannot be opened: Kafka at ${broker} refuses connections. Start it, or correct the address.`;
      expect(logged).toContain(`${sentence} It is tried again until it works.`);
      ending.abort();
      await expect(opened).rejects.toMatchObject({ code: 'storage', retryable: true, message: sentence });
    },
    testMs,
  );

  it(
    'says where no registry is, and opens as soon as it is there',
    async () => {
      const { url } = await infra('registry');
      const gateway = await gatewayTo(url);
      await gateway.close();
      const registry = { url: gateway.url, compatibility: 'FULL_TRANSITIVE' } as const;
      const { opened, logged } = opening(await optionsHere({ registry }));
      const said = () => logged.filter((line) => !line.startsWith('kafkajs: '));
      await eventually('a word about the registry', () => said().length > 0);
      expect(said()[0]).toBe(
        `The schema registry at ${gateway.url} cannot be reached. Start it, or correct the address. It is tried again until it works.`,
      );
      await gateway.open();
      const bus = await opened;
      await bus.check();
      await gateway.close();
      await expect(bus.check()).rejects.toThrow(`The schema registry at ${gateway.url} cannot be reached.`);
      await bus.close();
    },
    testMs,
  );

  it(
    'creates the topics that are absent, with their settings, and leaves those that are there',
    () =>
      onKafka(
        async (start, options) => {
          const name = (topic: string) => options.prefix + topic;
          await withAdmin(options, async (admin) => {
            await makeTopics(options, { topic: name('agent.steps'), numPartitions: 5, replicationFactor: 1 });
            await Promise.all([start(), start()]);
            const { topics: found } = await admin.fetchTopicMetadata();
            const partitions = found
              .filter((topic) => topic.name.startsWith(options.prefix))
              .map((topic) => [topic.name.slice(options.prefix.length), topic.partitions.length]);
            expect(Object.fromEntries(partitions)).toEqual({
              'agent.requests': 3,
              'agent.calls': 3,
              'agent.toolsets': 3,
              'agent.tool-calls': 3,
              'agent.steps': 5,
              'agent.responses': 3,
              'agent.progress': 3,
              'agent.approvals': 3,
              'agent.audit': 3,
              'agent.dead-letters': 3,
              'agent.discovery': 3,
              'agent.notifications': 3,
              'agent.denials': 3,
              'agent.cancellations': 3,
              'agent.config': 1,
            });
            const { resources } = await admin.describeConfigs({
              includeSynonyms: false,
              resources: [{ type: 2, name: name('agent.dead-letters') }],
            });
            const settings = new Map(resources[0]?.configEntries.map((entry) => [entry.configName, entry.configValue]));
            expect(settings.get('max.message.bytes')).toBe('2097176');
            expect(settings.get('message.timestamp.type')).toBe('LogAppendTime');
          });
        },
        { topics: { partitions: 3, replication: 1 } },
      ),
    testMs,
  );

  it(
    'refuses an agent.config of several partitions',
    async () => {
      const options = await optionsHere();
      const topic = `${options.prefix}agent.config`;
      await makeTopics(options, { topic, numPartitions: 2 });
      await expect(openKafkaBus(options)).rejects.toMatchObject({
        retryable: false,
        message: expect.stringMatching(/agent\.config has 2 partitions and must have one/),
      });
    },
    testMs,
  );

  it(
    'gives subjects of the prefix their schemas and their compatibility, once',
    () =>
      onKafka(async (start, options) => {
        await start();
        await start();
        const get = async (path: string) => (await fetch(`${options.registry.url}${path}`)).json();
        const subject = `${options.prefix}agent.requests-value`;
        expect(await get(`/subjects/${subject}/versions`)).toEqual([1]);
        expect(await get(`/config/${subject}`)).toEqual({ compatibilityLevel: 'FULL_TRANSITIVE' });
      }),
    testMs,
  );

  it(
    'refuses at once a registry whose schemas are another’s: waiting would not mend it',
    async () => {
      const options = await optionsHere();
      const subject = `${options.prefix}agent.requests-value`;
      const post = (method: string, path: string, body: unknown) =>
        fetch(options.registry.url + path, {
          method,
          headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
          body: JSON.stringify(body),
        });
      const schema = JSON.stringify({ type: 'record', name: 'Other', fields: [{ name: 'a', type: 'int' }] });
      expect((await post('POST', `/subjects/${subject}/versions`, { schema })).status).toBe(200);
      expect((await post('PUT', `/config/${subject}`, { compatibility: 'FULL_TRANSITIVE' })).status).toBe(200);
      await expect(openKafkaBus(options)).rejects.toMatchObject({
        code: 'storage',
        retryable: false,
        message: expect.stringMatching(/^The schema registry at http.* refuses a schema/),
      });
    },
    testMs,
  );

  it(
    'keeps prefixes apart: what one deployment writes the other one never sees',
    async () => {
      const [one, other] = [await aProcess(await optionsHere()), await aProcess(await optionsHere())];
      try {
        const seen: string[] = [];
        const handle = (by: string) => async (message: { key: string }) => {
          seen.push(`${by} saw ${message.key}`);
          return [];
        };
        await one.bus.subscribe({ group: 'same', topics: ['agent.requests'], handle: handle('one') });
        await other.bus.subscribe({ group: 'same', topics: ['agent.requests'], handle: handle('other') });
        await one.bus.publish([request('of one', 'x')]);
        await other.bus.publish([request('of other', 'x')]);
        await eventually('both', () => seen.length >= 2);
        expect([...seen].sort()).toEqual(['one saw of one', 'other saw of other']);
        expect(await all(one.bus, 'agent.requests')).toHaveLength(1);
      } finally {
        await one.bus.close();
        await other.bus.close();
      }
    },
    testMs,
  );
});
