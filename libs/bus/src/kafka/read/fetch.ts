import Batch from 'kafkajs/src/consumer/batch.js';
import type { Topic } from '@sluice/contracts';
import type { Clock } from '@sluice/core';
import { firstBehind } from '../../first-behind.js';
import type { ReadFrom } from '../../port.js';
import type { Stored } from '../../processing/stored.js';
import type { Broker, Cluster } from '../kafkajs/cluster.js';
import { causes } from '../kafkajs/failure.js';
import type { Names } from '../names.js';
import { storedOf } from './stored-message.js';

const readCommitted = 1;
/** Bytes asked for at once, of a partition and of a broker. */
const partitionBytes = 1024 * 1024;
const brokerBytes = 8 * 1024 * 1024;

/** How far the reading of one partition is. */
export interface Cursor {
  readonly topic: Topic;
  /** On the broker. */
  readonly name: string;
  readonly partition: number;
  /** Records before it are skipped. */
  first: number;
  /**
   * Where the log ended when the reading began: a commit that was answered before is seen, even if its markers are
   * still being written.
   */
  end: number;
  /** The next offset to be fetched. */
  next: number;
  /** Fetched and not yet given out. */
  readonly fetched: Stored[];
  /** Since when the log has ended before `next`, on the monotonic clock; undefined if it does not. */
  shortSince?: number | undefined;
}

/** Where each partition of the topics is to be read from, and where it ends now. */
export async function cursorsAt(
  cluster: Cluster,
  names: Names,
  topics: readonly Topic[],
  from: ReadFrom,
): Promise<readonly Cursor[]> {
  await cluster.connect();
  await cluster.addMultipleTargetTopics(topics.map((topic) => names.topic(topic)));
  await cluster.refreshMetadataIfNecessary();
  const found = await Promise.all(topics.map((topic) => cursorsOf(cluster, topic, names.topic(topic), from)));
  return found.flat();
}

async function cursorsOf(cluster: Cluster, topic: Topic, name: string, from: ReadFrom): Promise<readonly Cursor[]> {
  const only = typeof from === 'object' && 'offset' in from ? from.partition : undefined;
  const partitions = cluster
    .findTopicPartitionMetadata(name)
    .map(({ partitionId }) => ({ partition: partitionId }))
    .filter(({ partition }) => only === undefined || partition === only);
  if (partitions.length === 0) return [];
  const ask = async (where: { fromBeginning: boolean } | { fromTimestamp: number }) => {
    const [answer] = await cluster.fetchTopicsOffset([{ topic: name, partitions, ...where }]);
    return new Map(answer?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
  };
  const ends = await ask({ fromBeginning: false });
  const beginnings = from === 'end' ? ends : await ask({ fromBeginning: true });
  const times = typeof from === 'object' && 'time' in from ? await ask({ fromTimestamp: from.time }) : undefined;
  return partitions.map(({ partition }) => {
    const end = ends.get(partition) ?? 0;
    const beginning = beginnings.get(partition) ?? 0;
    const first =
      typeof from === 'object' && 'after' in from
        ? firstBehind(from.after(topic, partition), { beginning, end })
        : firstOf(from, beginning, end, times?.get(partition));
    return { topic, name, partition, first, end, next: Math.min(Math.max(first, beginning), end), fetched: [] };
  });
}

function firstOf(
  from: Exclude<ReadFrom, { readonly after: unknown }>,
  beginning: number,
  end: number,
  atTime: number | undefined,
): number {
  if (from === 'start') return beginning;
  if (from === 'end') return end;
  if ('offset' in from) return from.offset;
  // -1 says that nothing is as late as that.
  return atTime === undefined || atTime < 0 ? end : atTime;
}

interface Fetching {
  /** How long the broker may wait for records, milliseconds. */
  readonly waitMs: number;
  readonly clock: Clock;
}

/** Fetches what comes next at each cursor. Throws what kafkajs throws; the cursors that were fetched have moved. */
export async function fetchNext(cluster: Cluster, cursors: readonly Cursor[], fetching: Fetching): Promise<void> {
  await cluster.refreshMetadataIfNecessary();
  const byLeader = Map.groupBy(cursors, (cursor) => leaderOf(cluster, cursor));
  await Promise.all([...byLeader].map(([nodeId, led]) => fetchFrom(cluster, nodeId, led, fetching)));
}

function leaderOf(cluster: Cluster, { name, partition }: Cursor): string {
  const [nodeId] = Object.keys(cluster.findLeaderForPartitions(name, [partition]));
  if (nodeId === undefined) throw new Error(`There is no leader of partition ${partition} of ${name} at the moment.`);
  return nodeId;
}

async function fetchFrom(
  cluster: Cluster,
  nodeId: string,
  cursors: readonly Cursor[],
  { waitMs, clock }: Fetching,
): Promise<void> {
  const leader = await cluster.findBroker({ nodeId });
  const topics = [...Map.groupBy(cursors, ({ name }) => name)].map(([topic, wanted]) => ({
    topic,
    partitions: wanted.map(({ partition, next }) => ({
      partition,
      fetchOffset: String(next),
      maxBytes: partitionBytes,
    })),
  }));
  const { responses } = await inTurn(leader, () =>
    leader.fetch({
      isolationLevel: readCommitted,
      maxWaitTime: waitMs,
      minBytes: 1,
      maxBytes: brokerBytes,
      topics,
    }),
  );
  for (const { topicName, partitions } of responses) {
    for (const data of partitions) {
      const cursor = cursors.find(({ name, partition }) => name === topicName && partition === data.partition);
      if (cursor !== undefined) take(cursor, new Batch(topicName, String(cursor.next), data), clock);
    }
  }
}

/** The last fetch asked of each leader. */
const turns = new WeakMap<Broker, Promise<unknown>>();

/**
 * One fetch after another, as the broker answers them anyway: kafkajs opens the connection for fetches with the first
 * one, and with two first ones it opens two and forgets one, which then keeps the process alive.
 */
function inTurn<T>(leader: Broker, fetch: () => Promise<T>): Promise<T> {
  const mine = (turns.get(leader) ?? Promise.resolve()).then(fetch);
  // A failure rejects this request alone; the next one has a turn all the same.
  turns.set(
    leader,
    mine.catch(() => undefined),
  );
  return mine;
}

function take(cursor: Cursor, batch: Batch, clock: Clock): void {
  if (batch.rawMessages.length === 0) return;
  for (const message of batch.messages) {
    if (Number(message.offset) >= cursor.first)
      cursor.fetched.push(storedOf(cursor.topic, cursor.partition, message, clock));
  }
  cursor.next = Number(batch.lastOffset()) + 1;
  cursor.shortSince = undefined;
}

/**
 * A leader that is behind has come round by then, milliseconds; a log that still ends before its reader was
 * truncated, or made again.
 */
const cutAfterMs = 5_000;

/**
 * Moves the cursor that has nothing at its offset, if that is the error. Whose records retention has taken away goes
 * on at what is left. Where the log ends before it, a follower begins again after a while, since it would never see
 * what comes until there is as much as before.
 */
export async function moveIntoRange(
  cluster: Cluster,
  cursors: readonly Cursor[],
  error: unknown,
  follows: boolean,
): Promise<boolean> {
  const lost = causes(error).find(({ name }) => name === 'KafkaJSOffsetOutOfRange') as
    { readonly topic?: string; readonly partition?: number } | undefined;
  const cursor = cursors.find(({ name, partition }) => name === lost?.topic && partition === lost.partition);
  if (cursor === undefined) return false;
  const { name: topic, partition } = cursor;
  const ask = async (fromBeginning: boolean): Promise<number> => {
    const [answer] = await cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], fromBeginning }]);
    return Number(answer?.partitions[0]?.offset ?? cursor.next);
  };
  const [beginning, end] = [await ask(true), await ask(false)];
  if (end >= cursor.next) {
    cursor.shortSince = undefined;
    cursor.next = Math.max(cursor.next, beginning);
    return true;
  }
  const now = performance.now();
  cursor.shortSince ??= now;
  if (!follows || now - cursor.shortSince < cutAfterMs) return false;
  cursor.shortSince = undefined;
  // What was fetched and not given out is given out as what follows.
  cursor.first = cursor.next = cursor.end = beginning;
  return true;
}
