import { beforeAll, describe, expect, it } from '@jest/globals';
import type { ITopicConfig } from 'kafkajs';
import type { Handler, KafkaBus, KafkaBusOptions } from '@sluice/bus';
import { trustedTimeOf } from '@sluice/bus';
import { infra, startTimeout } from '../../../../test/infra/client.ts';
import { all, entry, eventually, questionOf, request, testMs } from '../contract/harness.js';
import { clusterOf } from '../../src/kafka/kafkajs/cluster.js';
import { crc32c } from '../../src/kafka/produce/crc32c.js';
import { encodeBatch } from '../../src/kafka/produce/record-batch.js';
import { produce } from '../../src/kafka/produce/requests.js';
import { sendTo } from '../../src/kafka/produce/send-to.js';
import { makeTopics, onKafka, plainKafka, withAdmin, withProducer } from './on-broker.js';

const topics = ['agent.requests'] as const;

/** A topic with these settings and the broker’s defaults for all others. */
function made(options: KafkaBusOptions, topic: string, settings: Readonly<Record<string, string>>): ITopicConfig {
  const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
  return { topic: options.prefix + topic, numPartitions: 1, replicationFactor: 1, configEntries };
}

const letters = async (bus: KafkaBus) => (await all(bus, 'agent.dead-letters')).map(({ record }) => record);

describe('topics that Sluice did not make', () => {
  beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

  it.each([
    ['as it was at the start', false],
    ['that was lowered since', true],
  ])(
    'bury an output beyond a limit %s, and the partition goes on',
    (_, later) =>
      onKafka(async (start, options) => {
        const log = { 'message.timestamp.type': 'LogAppendTime', 'retention.ms': '-1' };
        const limited = { ...log, 'max.message.bytes': '200000' };
        await makeTopics(options, made(options, 'agent.audit', later ? log : limited));
        const { bus, said } = await start();
        if (later)
          await withAdmin(options, async (admin) => {
            const configEntries = Object.entries(limited).map(([name, value]) => ({ name, value }));
            const resource = { type: 2, name: `${options.prefix}agent.audit`, configEntries };
            await admin.alterConfigs({ validateOnly: false, resources: [resource] });
          });
        const began: string[] = [];
        const handle: Handler = async (message) => {
          began.push(questionOf(message).slice(0, 5));
          return [entry(message)];
        };
        await bus.publish([request('s', 'first'), request('t', 'large'.repeat(60_000)), request('t', 'next')]);
        await bus.publish(Array.from({ length: 4 }, () => request('u', 'whole'.repeat(20_000))));
        await bus.subscribe({ group: 'h-1', topics, handle });
        await eventually('all but one', async () => (await all(bus, 'agent.audit')).length === 6);
        expect(await letters(bus)).toMatchObject([{ code: 'output_too_large', offset: 1, topic: 'agent.requests' }]);
        expect(began.filter((each) => each === 'large').length).toBeLessThanOrEqual(3);
        expect(bus.findings).toMatchObject([{ topic: 'agent.audit', setting: 'max.message.bytes', endangers: false }]);
        expect(said.some((line) => /max\.message\.bytes 200000 and needs/.test(line))).toBe(true);
        await bus.check();
      }),
    testMs,
  );

  it(
    'get a dead letter without its cause where they do not take that',
    () =>
      onKafka(async (start, options) => {
        const small = made(options, 'agent.dead-letters', { 'message.timestamp.type': 'LogAppendTime', 'max.message.bytes': '20000' }); // prettier-ignore
        await makeTopics(options, small);
        const { bus } = await start();
        await bus.appendRaw('agent.requests', 's', Buffer.from('{'.repeat(50_000)));
        await bus.publish([request('s', 'next')]);
        await bus.subscribe({ group: 'h-2', topics, handle: async (message) => [entry(message)] });
        await eventually('the next one', async () => (await all(bus, 'agent.audit')).length === 1);
        const [letter] = await letters(bus);
        expect(letter).toMatchObject({ code: 'undecodable', offset: 0, reason: expect.stringMatching(/50000 bytes are left out/) }); // prettier-ignore
        expect(letter?.value).toHaveLength(0);
      }),
    testMs,
  );

  it(
    'are not ready, with a sentence, where rights or data are in danger, until that is mended',
    () =>
      onKafka(async (start, options) => {
        const name = `${options.prefix}agent.requests`;
        await makeTopics(options, made(options, 'agent.requests', { 'cleanup.policy': 'compact' }));
        const { bus, said } = await start();
        const dangers = bus.findings.filter(({ endangers }) => endangers).map(({ setting }) => setting);
        expect(dangers.sort()).toEqual(['cleanup.policy', 'message.timestamp.type']);
        await expect(bus.check()).rejects.toThrow(`The topic ${name} has message.timestamp.type CreateTime`);
        await expect(bus.checks['topics']?.()).rejects.toThrow(/needs LogAppendTime: producers choose the time/);
        expect(said.filter((line) => line.startsWith('error: The topic'))).toHaveLength(2);
        await withAdmin(options, async (admin) => {
          const configEntries = Object.entries({
            'cleanup.policy': 'delete',
            'message.timestamp.type': 'LogAppendTime',
          });
          const resource = {
            type: 2,
            name,
            configEntries: configEntries.map(([key, value]) => ({ name: key, value })),
          };
          await admin.alterConfigs({ validateOnly: false, resources: [resource] });
        });
        await eventually('readiness', () => bus.check().then(() => true, () => false)); // prettier-ignore
      }),
    testMs,
  );

  it(
    'let no producer choose the time of a record',
    () =>
      onKafka(async (start, options) => {
        await makeTopics(options, made(options, 'agent.requests', {}));
        const { bus } = await start();
        const began = Date.now();
        const old = String(began - 3_600_000);
        const value = JSON.stringify({ question: 'old', session_id: 's', group: ['g'] });
        await withProducer(options, undefined, (producer) =>
          producer.send({ topic: `${options.prefix}agent.requests`, messages: [{ key: 's', value, timestamp: old }] }),
        );
        // A batch that says of itself that its time is the broker’s.
        const record = { topic: 'agent.requests', key: 's', value: Buffer.from(value), headers: {} } as const;
        const identity = { producerId: -1n, epoch: -1, sequence: -1, transactional: false, timestamp: Number(old) };
        const batch = encodeBatch([record], identity);
        batch.writeInt16BE(8, 21);
        batch.writeUInt32BE(crc32c(batch.subarray(21)), 17);
        const cluster = clusterOf(plainKafka(options));
        const topic = `${options.prefix}agent.requests`;
        await cluster.connect();
        await cluster.addMultipleTargetTopics([topic]);
        const [leader] = Object.keys(cluster.findLeaderForPartitions(topic, [0]));
        const broker = await cluster.findBroker({ nodeId: leader ?? '' });
        await sendTo(broker, produce(7, null, [{ topic, partition: 0, batch }], 5_000));
        await cluster.disconnect();
        const times: number[] = [];
        const questions: string[] = [];
        const handle: Handler = async (message) => {
          times.push(trustedTimeOf(message));
          questions.push(questionOf(message));
          return [];
        };
        await bus.subscribe({ group: 'h-3', topics, handle });
        await bus.publish([request('s', 'last')]);
        await eventually('all', () => times.length >= 2 && questions.includes('last'));
        const read = await all(bus, 'agent.requests');
        expect(read.map(questionOf)).toEqual(questions);
        // What stands there is kept as it is: the audit's hashes are over it.
        expect(read[0]?.timestamp).toBe(Number(old));
        for (const time of [...times, ...read.map(trustedTimeOf)]) expect(time).toBeGreaterThanOrEqual(began);
      }),
    testMs,
  );
});
