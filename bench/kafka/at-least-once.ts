import { createCodec } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { Bus, Consumer, Subscription } from '@sluice/bus';
import { clusterOf } from '../../libs/bus/src/kafka/kafkajs/cluster.js';
import { Names } from '../../libs/bus/src/kafka/names.js';
import { confluentRegistry } from '../../libs/bus/src/kafka/admin/registry.js';
import { produceBatchesOf } from '../../libs/bus/src/kafka/produce/produce-batches.js';
import { IdempotentProducer } from '../../libs/bus/src/kafka/produce/idempotent-producer.js';
import { storedOf } from '../../libs/bus/src/kafka/read/stored-message.js';
import { handleRecord } from '../../libs/bus/src/processing/handling.js';
import { RetryLog } from '../../libs/bus/src/processing/retry-log.js';
import { Revocation } from '../../libs/bus/src/processing/revocation.js';
import { openStored } from '../../libs/bus/src/processing/stored.js';
import { client, partitions } from './echo.js';

/**
 * The bus as it would be at least once: the same codec, handler and sends, but no transaction; the outputs of a batch
 * go out, and then its offset is committed. What a crash between the two leaves is repeated. All else is the given
 * bus’s.
 */
export function atLeastOnce(bus: Bus, brokers: readonly string[], registryUrl: string, prefix: string): Bus {
  const names = new Names(prefix);
  const subscribe = async (subscription: Subscription): Promise<Consumer> => {
    const registry = confluentRegistry({ url: registryUrl, compatibility: 'FULL_TRANSITIVE' }, names, 'bench');
    const codec = await createCodec(registry);
    const kafka = client(brokers, 'bench-once');
    const producer = new IdempotentProducer(clusterOf(kafka));
    let sending = Promise.resolve();
    const consumer = kafka.consumer({ groupId: names.group(subscription.group), maxWaitTimeInMs: 100 });
    const stopping = new AbortController();
    const log = (): void => undefined;
    const retries = new RetryLog(subscription.group, log, Date);
    const options = { subscription, codec, clock: Date, log, retries, emit: log, stopping: stopping.signal };
    await producer.connect();
    await consumer.connect();
    await consumer.subscribe({ topics: subscription.topics.map((topic) => names.topic(topic)), fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: partitions,
      eachBatch: async ({ batch, resolveOffset, heartbeat }) => {
        const topic = names.topicOf(batch.topic) as Topic;
        const lanes = new Map<string, Promise<unknown>>();
        const finished = await Promise.all(
          batch.messages.map(async (message) => {
            const opened = await openStored(
              codec,
              storedOf(topic, batch.partition, message, { now: () => Date.now() }),
            );
            const before = lanes.get(opened.session) ?? Promise.resolve();
            const mine = before.then(() => handleRecord(opened, options, new Revocation()));
            lanes.set(opened.session, mine);
            return mine;
          }),
        );
        const outputs = finished.flatMap((one) => one?.outputs ?? []);
        sending = sending.then(() => producer.send(produceBatchesOf(outputs, names)));
        await sending;
        const last = batch.lastOffset();
        resolveOffset(last);
        const offset = String(Number(last) + 1);
        await consumer.commitOffsets([{ topic: batch.topic, partition: batch.partition, offset }]);
        for (const one of finished) for (const action of one?.afterCommit ?? []) action();
        await heartbeat();
      },
    });
    return {
      failed: new Promise(() => undefined),
      inFlight: 0,
      lag: () => Promise.resolve([]),
      standing: { partitions, heartbeatAgeMs: 0, trouble: undefined },
      stop: async () => {
        await consumer.disconnect();
        await producer.disconnect();
      },
    };
  };
  return {
    durable: () => Promise.resolve(),
    publish: (messages) => bus.publish(messages),
    read: (wanted, options) => bus.read(wanted, options),
    decode: (topic, value) => bus.decode(topic, value),
    groupLag: (group, wanted) => bus.groupLag(group, wanted),
    check: () => bus.check(),
    checks: bus.checks,
    close: () => bus.close(),
    subscribe,
  };
}
