import { beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import { infra, startTimeout } from '../../../../../test/infra/client.ts';
import { pause } from '../../../src/processing/retry.js';
import { clusterOf } from '../../../src/kafka/kafkajs/cluster.js';
import type { Broker, Cluster } from '../../../src/kafka/kafkajs/cluster.js';
import { isConcurrentTransactions, isFenced, isStaleGeneration } from '../../../src/kafka/kafkajs/failure.js';
import type { KafkaBusOptions } from '../../../src/kafka/options.js';
import { finalizedFeatures } from '../../../src/kafka/produce/requests.js';
import type { OffsetCommit } from '../../../src/kafka/produce/requests.js';
import { sendTo } from '../../../src/kafka/produce/send-to.js';
import { TransactionalProducer } from '../../../src/kafka/produce/transactional-producer.js';
import { numbers, testMs } from '../../contract/harness.js';
import { makeTopics, onKafka, standing, withAdmin } from '../on-broker.js';

const endTxn = 26;
const never = new AbortController().signal;

interface Made {
  readonly producer: TransactionalProducer;
  /** By their names and versions, how many requests of transactions it has made. */
  readonly asked: Map<string, number>;
}

/** A producer, and what it asks of the broker; with `oldest` as if that knew no newer way to end a transaction. */
function producerOn({ brokers, prefix = '' }: KafkaBusOptions, oldest = false, lose?: Loss): Made {
  const asked = new Map<string, number>();
  const cluster = clusterOf(new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }));
  const findBroker = cluster.findBroker.bind(cluster);
  const seen = new WeakSet<Broker>();
  const watched: Cluster = Object.assign(cluster, {
    findBroker: async (node: { nodeId: number }) => {
      const broker = await findBroker(node);
      if (!seen.has(broker)) {
        seen.add(broker);
        watch(broker, asked, lose);
        if (oldest) Object.assign(broker.versions?.[endTxn] ?? {}, { maxVersion: 3 });
      }
      return broker;
    },
  });
  const options = { cluster: watched, transactionalId: `${prefix}writer`, transactionTimeoutMs: 5_000 };
  return { producer: new TransactionalProducer(options), asked };
}

function watch({ connectionPool: pool }: Broker, asked: Map<string, number>, lose?: Loss): void {
  const send = pool.send.bind(pool);
  pool.send = async (request) => {
    const { apiName, apiVersion } = request.request;
    const name = `${apiName} ${apiVersion}`;
    if (lose?.request(name)) throw lost();
    const answer = await send(request);
    if (/Txn|Produce$/.test(apiName)) asked.set(name, (asked.get(name) ?? 0) + 1);
    if (lose?.answer(name)) throw lost();
    return answer;
  };
}

/** Which requests never reach the broker, and which of its answers never come back. */
interface Loss {
  request(name: string): boolean;
  answer(name: string): boolean;
}

/** As kafkajs says that a connection was closed. */
function lost(): Error {
  return Object.assign(new Error('Closed connection'), { name: 'KafkaJSConnectionClosedError', retriable: true });
}

/** An offset of the one partition, by a producer of no group. */
const offsetOf = (prefix: string, offset: number, metadata: string): OffsetCommit => ({
  groupId: `${prefix}g`,
  member: { memberId: '', generation: -1 },
  offsets: [{ topic: `${prefix}t`, partition: 0, offset, metadata }],
});

/**
 * Offset and record of the n-th transaction, up to its end. The markers of the one before may still be on their way.
 */
async function fill({ producer }: Made, prefix: string, n: number): Promise<void> {
  const offset = offsetOf(prefix, n, `m${n}`);
  for (;;) {
    try {
      await producer.sendOffsets(offset);
      break;
    } catch (error) {
      if (!isConcurrentTransactions(error)) throw error;
      await pause(2, never);
    }
  }
  const records = numbers(2, `${n}/`).map((key) => ({
    topic: 'agent.steps' as const,
    key,
    value: Buffer.from(key),
    headers: { n: String(n) },
  }));
  await producer.send([[{ topic: `${prefix}t`, records }]]);
}

/** The group must be known to the broker, which takes a moment on a fresh one. */
async function ready(options: KafkaBusOptions): Promise<string> {
  const { prefix = '' } = options;
  await makeTopics(options, { topic: `${prefix}t` });
  await withAdmin(options, (admin) =>
    admin.setOffsets({ groupId: `${prefix}g`, topic: `${prefix}t`, partitions: [{ partition: 0, offset: '0' }] }),
  );
  return prefix;
}

const requests = {
  1: ['AddOffsetsToTxn 1', 'AddPartitionsToTxn 1', 'EndTxn 1', 'Produce 7', 'TxnOffsetCommit 3'],
  2: ['EndTxn 5', 'Produce 12', 'TxnOffsetCommit 5'],
} as const;

async function hasVersion2({ brokers }: KafkaBusOptions): Promise<boolean> {
  const cluster = clusterOf(new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }));
  await cluster.connect();
  await cluster.refreshMetadataIfNecessary();
  const levels = await sendTo(await cluster.findControllerBroker(), finalizedFeatures());
  await cluster.disconnect();
  return (levels.get('transaction.version') ?? 0) >= 2;
}

describe('a producer of transactions', () => {
  beforeAll(() => Promise.all([infra('kafka'), infra('registry')]), startTimeout);

  it.each([
    ['makes three requests for each where the broker has version 2', false],
    ['makes five where it has not', true],
  ])(
    '%s, and commits offset and records',
    (_, oldest) =>
      onKafka(async (_start, options) => {
        const prefix = await ready(options);
        const made = producerOn(options, oldest);
        await made.producer.connect();
        for (let n = 1; n <= 3; n++) {
          await fill(made, prefix, n);
          await made.producer.commit();
        }
        await made.producer.disconnect();
        // A broker that the environment names may be a 3.x.
        const version = oldest || !(await hasVersion2(options)) ? 1 : 2;
        expect([...made.asked.keys()].sort()).toEqual(requests[version]);
        for (const count of made.asked.values()) expect(count).toBeGreaterThanOrEqual(3);
        // Two records and a marker each.
        expect(await standing(options, 'g', 't')).toEqual({ committed: 3, metadata: 'm3', end: 9 });
      }),
    testMs,
  );

  it.each([
    ['2', false],
    ['1', true],
  ])(
    'of version %s commits the offset that was sent last',
    (_, oldest) =>
      onKafka(async (_start, options) => {
        const prefix = await ready(options);
        const made = producerOn(options, oldest);
        await made.producer.connect();
        await made.producer.sendOffsets(offsetOf(prefix, 7, 'ahead'));
        await made.producer.sendOffsets(offsetOf(prefix, 5, 'due'));
        await made.producer.commit();
        await made.producer.disconnect();
        expect(await standing(options, 'g', 't')).toMatchObject({ committed: 5, metadata: 'due' });
      }),
    testMs,
  );

  it.each([
    ['a request', 'Produce 12', 'request'],
    ['an answer', 'Produce 12', 'answer'],
    ['a request', 'EndTxn 5', 'request'],
    ['an answer', 'EndTxn 5', 'answer'],
  ] as const)(
    'asks again for what is lost on the way, and writes everything once: %s of %s',
    (_, name, what) =>
      onKafka(async (_start, options) => {
        const prefix = await ready(options);
        if (!(await hasVersion2(options))) throw new Error('This wants a Kafka of 4.0 or later. Name one, or none.');
        let losses = 0;
        const isFirst = (asked: string) => asked === name && losses++ === 0;
        const lose = { request: () => false, answer: () => false, [what]: isFirst };
        const made = producerOn(options, false, lose);
        await made.producer.connect();
        for (let n = 1; n <= 2; n++) {
          await fill(made, prefix, n);
          await made.producer.commit();
        }
        await made.producer.disconnect();
        // The lost one, its repeat, and that of the second transaction; a busy broker may be asked again.
        expect(losses).toBeGreaterThanOrEqual(3);
        expect(await standing(options, 'g', 't')).toEqual({ committed: 2, metadata: 'm2', end: 6 });
      }),
    testMs,
  );

  it.each([
    ['2', false],
    ['1', true],
  ])(
    'of version %s is fenced by the next one with its id, which ends what it left open',
    (_, oldest) =>
      onKafka(async (_start, options) => {
        const prefix = await ready(options);
        const [former, next] = [producerOn(options, oldest), producerOn(options, oldest)];
        await former.producer.connect();
        await fill(former, prefix, 1);
        await former.producer.commit();
        await fill(former, prefix, 2);
        await next.producer.connect();
        const refused = await former.producer.commit().catch((error: unknown) => error);
        expect(isFenced(refused)).toBe(true);
        const late = former.producer.sendOffsets(offsetOf(prefix, 9, ''));
        expect(isFenced(await late.catch((error: unknown) => error))).toBe(true);
        expect(await standing(options, 'g', 't')).toMatchObject({ committed: 1, metadata: 'm1' });
        await fill(next, prefix, 3);
        await next.producer.commit();
        expect(await standing(options, 'g', 't')).toMatchObject({ committed: 3, metadata: 'm3' });
        await Promise.all([former.producer.disconnect(), next.producer.disconnect()]);
      }),
    testMs,
  );

  it.each([
    ['2', false],
    ['1', true],
  ])(
    'of version %s commits no offset of a member that the group does not know, and may go on when it begins again',
    (_, oldest) =>
      onKafka(async (_start, options) => {
        const prefix = await ready(options);
        const made = producerOn(options, oldest);
        await made.producer.connect();
        const stranger = { ...offsetOf(prefix, 5, ''), member: { memberId: 'nobody', generation: 1 } };
        const refused = await made.producer.sendOffsets(stranger).catch((error: unknown) => error);
        expect(isStaleGeneration(refused)).toBe(true);
        await made.producer.connect();
        await fill(made, prefix, 3);
        await made.producer.commit();
        expect(await standing(options, 'g', 't')).toMatchObject({ committed: 3, metadata: 'm3' });
        await made.producer.disconnect();
      }),
    testMs,
  );
});
