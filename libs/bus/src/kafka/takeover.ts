import type { Admin, Kafka } from 'kafkajs';
import { Position } from '../processing/position.js';
import { clusterOf } from './cluster.js';
import { decodeCarried, decodeFinished } from './finished-set.js';
import type { TruncationCheck } from './log-truncation.js';
import { TransactionalProducer } from './producing/transactional-producer.js';

export interface TakeoverOptions {
  readonly kafka: Kafka;
  readonly admin: Admin;
  /** Names on the broker. */
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  readonly transactionalId: string;
  readonly transactionTimeoutMs: number;
  /** What former takeovers of the partition have seen. */
  readonly truncation: TruncationCheck;
}

/** What the owner of a partition holds: the only producer that may move the group’s offset there, and where that stands. */
export interface Ownership {
  readonly producer: TransactionalProducer;
  readonly position: Position;
  /** What the owner before left for the next record; '' where sessions are the order. */
  readonly carried: string;
}

/** Takes a partition over: the owner before is fenced first, and only then is it read how far that one came. */
export async function takeOver(options: TakeoverOptions): Promise<Ownership> {
  const { kafka, transactionalId, transactionTimeoutMs } = options;
  const producer = new TransactionalProducer({ cluster: clusterOf(kafka), transactionalId, transactionTimeoutMs });
  try {
    await producer.connect();
    return { producer, ...(await standingOf(options)) };
  } catch (error) {
    await producer.disconnect();
    throw error;
  }
}

/** Where the log of a partition begins and ends. */
export async function boundsOf(
  admin: Admin,
  topic: string,
  partition: number,
): Promise<{ readonly beginning: number; readonly end: number }> {
  const bounds = await admin.fetchTopicOffsets(topic);
  const found = bounds.find((one) => one.partition === partition);
  return { beginning: Number(found?.low ?? 0), end: Number(found?.high ?? 0) };
}

async function standingOf({
  admin,
  group,
  topic,
  partition,
  truncation,
}: TakeoverOptions): Promise<Omit<Ownership, 'producer'>> {
  const { beginning, end } = await boundsOf(admin, topic, partition);
  const [committed] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
  const found = committed?.partitions.find((one) => one.partition === partition);
  const prefix = Number(found?.offset ?? -1);
  // A group that is new begins at the beginning; what retention took away nobody will ever finish.
  const position = new Position(Math.max(prefix, beginning));
  for (const { first, past } of decodeFinished(prefix, found?.metadata ?? null)) position.finish(first, past);
  position.saved();
  truncation.assert(group, `${topic}/${partition}`, position.end, end);
  return { position, carried: decodeCarried(found?.metadata ?? null) };
}
