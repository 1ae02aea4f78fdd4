import { setTimeout as delay } from 'node:timers/promises';
import { CompressionTypes, Kafka, logLevel, Partitioners } from 'kafkajs';
import type { ITopicMetadata, Producer } from 'kafkajs';

export const partitions = 4;
/** Payload bytes of one transaction; four partitions together have as many under way as Sluice's bus has. */
const flushBytes = 512 * 1024;

/** A client of its own, as every measured part has: retries explicit, quiet. */
export function client(brokers: readonly string[], id: string): Kafka {
  return new Kafka({
    clientId: id,
    brokers: [...brokers],
    logLevel: logLevel.NOTHING,
    retry: { retries: 20, initialRetryTime: 50, maxRetryTime: 2_000 },
  });
}

export async function createTopics(brokers: readonly string[], ...topics: string[]): Promise<void> {
  const admin = client(brokers, 'bench-admin').admin();
  await admin.connect();
  await admin.createTopics({
    topics: topics.map((topic) => ({ topic, numPartitions: partitions, replicationFactor: 1 })),
    waitForLeaders: false,
  });
  // A busy broker has made a topic before it knows of it.
  while (await admin.fetchTopicMetadata({ topics }).then(withoutLeader, () => true)) await delay(50);
  await admin.disconnect();
}

function withoutLeader({ topics }: { readonly topics: readonly ITopicMetadata[] }): boolean {
  return topics.some(({ partitions: all }) => all.some(({ leader }) => leader < 0));
}

/** Fills a topic with records of the given payload, spread over sessions. */
export async function fill(
  brokers: readonly string[],
  topic: string,
  payload: (n: number) => Buffer | string,
  count: number,
): Promise<void> {
  const producer = client(brokers, 'bench-fill').producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  for (let from = 0; from < count; from += 500) {
    const messages = Array.from({ length: Math.min(500, count - from) }, (_, n) => ({
      key: `s-${from + n}`,
      value: payload(from + n),
    }));
    await producer.send({ topic, messages, acks: -1, compression: CompressionTypes.None });
  }
  await producer.disconnect();
}

/** Seconds from the first record out to the last, read committed, so that what is counted is what a reader sees. */
export async function drain(
  brokers: readonly string[],
  topic: string,
  count: number,
  begin: () => Promise<() => Promise<void>>,
): Promise<number> {
  const consumer = client(brokers, 'bench-drain').consumer({ groupId: `drain-${topic}-${process.hrtime.bigint()}` });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  let seen = 0;
  let first = 0;
  let finished: (seconds: number) => void = () => undefined;
  const done = new Promise<number>((resolve) => (finished = resolve));
  await consumer.run({
    eachBatch: async ({ batch }) => {
      if (batch.messages.length === 0) return;
      if (seen === 0) first = performance.now();
      seen += batch.messages.length;
      if (seen >= count) finished((performance.now() - first) / 1_000);
    },
  });
  const end = await begin();
  const seconds = await done;
  await end();
  await consumer.disconnect();
  return seconds;
}

/** The mean payload of the first records of a topic, bytes, of so many of them at least. */
export async function meanBytes(brokers: readonly string[], topic: string, records: number): Promise<number> {
  const consumer = client(brokers, 'bench-sizes').consumer({ groupId: `sizes-${topic}-${process.hrtime.bigint()}` });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  let seen = 0;
  let bytes = 0;
  let finished: () => void = () => undefined;
  const enough = new Promise<void>((resolve) => (finished = resolve));
  await consumer.run({
    eachBatch: async ({ batch }) => {
      for (const { value } of batch.messages) bytes += value?.length ?? 0;
      seen += batch.messages.length;
      if (seen >= records) finished();
    },
  });
  await enough;
  await consumer.disconnect();
  return Math.round(bytes / seen);
}

/**
 * The bare baseline: kafkajs alone reads, writes one output of the given size for each record and commits outputs and
 * offsets in one transaction per partition and flush, 512 KB at most. No codec, no handler, no lanes.
 */
export async function bareEcho(
  brokers: readonly string[],
  input: string,
  output: string,
  payload: Buffer,
): Promise<() => Promise<void>> {
  const kafka = client(brokers, 'bench-echo');
  const group = `echo-${input}`;
  const consumer = kafka.consumer({ groupId: group });
  const producers = new Map<number, Promise<Producer>>();
  const producerOf = (partition: number): Promise<Producer> => {
    let producer = producers.get(partition);
    if (producer === undefined) {
      const made = kafka.producer({
        transactionalId: `${group}-${partition}`,
        maxInFlightRequests: 1,
        idempotent: true,
        createPartitioner: Partitioners.DefaultPartitioner,
      });
      producer = made.connect().then(() => made);
      producers.set(partition, producer);
    }
    return producer;
  };
  await consumer.connect();
  await consumer.subscribe({ topics: [input], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: partitions,
    eachBatch: async ({ batch, resolveOffset, heartbeat }) => {
      const perFlush = Math.max(1, Math.floor(flushBytes / payload.length));
      const producer = await producerOf(batch.partition);
      for (let from = 0; from < batch.messages.length; from += perFlush) {
        const some = batch.messages.slice(from, from + perFlush);
        const last = some.at(-1);
        if (last === undefined) continue;
        const transaction = await producer.transaction();
        await transaction.send({ topic: output, messages: some.map(({ key }) => ({ key, value: payload })) });
        await transaction.sendOffsets({
          consumerGroupId: group,
          topics: [
            {
              topic: batch.topic,
              partitions: [{ partition: batch.partition, offset: String(Number(last.offset) + 1) }],
            },
          ],
        });
        await transaction.commit();
        resolveOffset(last.offset);
        await heartbeat();
      }
    },
  });
  return async () => {
    await consumer.disconnect();
    for (const producer of producers.values()) await (await producer).disconnect();
  };
}
