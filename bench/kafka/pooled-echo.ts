import type { Batch, Offsets } from 'kafkajs';
import { Partitioners } from 'kafkajs';
import { client, partitions } from './echo.js';

/**
 * Of what was read of one partition, payload bytes: the outputs have its keys, so they go to one partition, which
 * takes 1 MB at a time.
 */
const partBytes = 512 * 1024;

/** What was read of a partition, up to where it is done, and whom to tell when all of it is. */
interface Read {
  readonly batch: Batch;
  next: number;
  readonly done: () => void;
}

/**
 * The other bare baseline, with the flush policy of Sluice's bus: kafkajs alone as well, but one producer writes what
 * all partitions have brought, 2 MB at most, in one transaction after another. kafkajs hands out batches by
 * partition, so its users would have to think of it themselves.
 */
export async function pooledEcho(
  brokers: readonly string[],
  input: string,
  output: string,
  payload: Buffer,
): Promise<() => Promise<void>> {
  const kafka = client(brokers, 'bench-pooled-echo');
  const group = `pooled-${input}`;
  const consumer = kafka.consumer({ groupId: group });
  const producer = kafka.producer({
    transactionalId: group,
    maxInFlightRequests: 1,
    idempotent: true,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  const atOnce = Math.max(1, Math.floor(partBytes / payload.length));
  const reads: Read[] = [];
  let flushing: Promise<void> | undefined;

  const flush = async (): Promise<void> => {
    while (reads.length > 0) {
      // What arrives in the same turn of the event loop goes together.
      await new Promise(setImmediate);
      const keys: (Buffer | null)[] = [];
      const offsets: Offsets['topics'][number]['partitions'] = [];
      for (const read of reads) {
        const some = read.batch.messages.slice(read.next, read.next + atOnce);
        const last = some.at(-1);
        if (last === undefined) continue;
        for (const { key } of some) keys.push(key);
        read.next += some.length;
        offsets.push({ partition: read.batch.partition, offset: String(Number(last.offset) + 1) });
      }
      const transaction = await producer.transaction();
      await transaction.send({ topic: output, messages: keys.map((key) => ({ key, value: payload })) });
      await transaction.sendOffsets({ consumerGroupId: group, topics: [{ topic: input, partitions: offsets }] });
      await transaction.commit();
      for (const read of reads.splice(0)) {
        if (read.next < read.batch.messages.length) reads.push(read);
        else read.done();
      }
    }
    flushing = undefined;
  };

  await Promise.all([consumer.connect(), producer.connect()]);
  await consumer.subscribe({ topics: [input], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: partitions,
    eachBatch: async ({ batch, resolveOffset, heartbeat }) => {
      if (batch.messages.length === 0) return;
      await new Promise<void>((done) => {
        reads.push({ batch, next: 0, done });
        flushing ??= flush();
      });
      resolveOffset(batch.lastOffset());
      await heartbeat();
    },
  });
  return async () => {
    await consumer.disconnect();
    await flushing;
    await producer.disconnect();
  };
}
