import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '@sluice/core';
import { allTopics, topicEntry } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { Admin, ITopicConfig } from 'kafkajs';
import type { Names } from '../names.js';
import { askOfAll } from '../kafkajs/narrow-metadata.js';
import type { TopicOptions } from '../options.js';

const hour = 3_600_000;
const day = 24 * hour;
/**
 * What a broker takes by default, bytes. The bus refuses payloads of more than 1,000,000, so keys and headers have
 * room.
 */
export const leastMessageBytes = 1_048_588;
const createMs = 30_000;
const lookEveryMs = 100;
/** Smaller ones would make files without end. */
const leastSegmentMs = hour / 6;
const leastSegmentBytes = 16 * 1024 * 1024;

const keptMs = { setting: 7 * day, hour, 'for ever': -1 } as const;

/** How long a topic’s records are kept where no option says so, milliseconds; -1 for ever. */
function defaultRetentionMs(topic: Topic): number {
  return keptMs[topicEntry(topic).kept];
}

/** Creates the topics that are not there. Throws Fault('storage') if agent.config has more than its one partition. */
export async function createTopics(admin: Admin, names: Names, options: TopicOptions): Promise<void> {
  const there = new Set(await askOfAll(() => admin.listTopics()));
  const absent = allTopics.filter((topic) => !there.has(names.topic(topic)));
  if (absent.length > 0) {
    // False if another process was faster with all of them; with some of them kafkajs throws, and the next attempt
    // finds them.
    await admin.createTopics({
      topics: absent.map((topic) => topicConfig(topic, names, options)),
      waitForLeaders: false,
      timeout: createMs,
    });
    await untilLed(
      admin,
      absent.map((topic) => names.topic(topic)),
    );
  }
  await assertOnePartition(admin, names.topic('agent.config'));
}

/** A busy broker has made a topic before it knows of it, which kafkajs would take for a failure. */
async function untilLed(admin: Admin, topics: string[]): Promise<void> {
  for (const until = Date.now() + createMs; ; await delay(lookEveryMs)) {
    try {
      const { topics: known } = await admin.fetchTopicMetadata({ topics });
      if (known.every(({ partitions }) => partitions.every(({ leader }) => leader >= 0))) return;
    } catch (error) {
      const { type } = error as { readonly type?: unknown };
      const isEarly = type === 'UNKNOWN_TOPIC_OR_PARTITION' || type === 'LEADER_NOT_AVAILABLE';
      if (!isEarly || Date.now() > until) throw error;
    }
    if (Date.now() > until)
      throw new Fault(
        'storage',
        `Kafka has made topics that have no leader after ${String(createMs / 1_000)} s.`,
        true,
      );
  }
}

/** The last configuration is the one in force; with two partitions there would be two last ones. */
async function assertOnePartition(admin: Admin, name: string): Promise<void> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [name] });
  const count = topics[0]?.partitions.length ?? 0;
  if (count <= 1) return;
  throw new Fault(
    'storage',
    `The topic ${name} has ${count} partitions and must have one. Create it again with one, and apply the configuration again.`,
    false,
  );
}

export function topicConfig(topic: Topic, names: Names, options: TopicOptions): ITopicConfig {
  const { replication, maxMessageBytes = leastMessageBytes } = options;
  const partitions = topic === 'agent.config' ? 1 : options.partitions;
  if (maxMessageBytes < leastMessageBytes) {
    throw new RangeError(
      `topics.maxMessageBytes is ${maxMessageBytes}. Make it ${leastMessageBytes} or more: records may have as much.`,
    );
  }
  const entries: Readonly<Record<string, string | number>> = {
    'cleanup.policy': 'delete',
    ...retentionEntries(topic, partitions, options),
    'max.message.bytes': topic === 'agent.dead-letters' ? 2 * maxMessageBytes : maxMessageBytes,
    // Whether a credential had expired is judged by when the log took it, so that no producer can choose the time.
    'message.timestamp.type': 'LogAppendTime',
    // Producers may compress as they like; the broker undoes it, so that each reader’s library reads it.
    'compression.type': 'uncompressed',
    ...(replication >= 3 ? { 'min.insync.replicas': 2 } : {}),
  };
  return {
    topic: names.topic(topic),
    numPartitions: partitions,
    replicationFactor: replication,
    configEntries: Object.entries(entries).map(([name, value]) => ({ name, value: String(value) })),
  };
}

/**
 * A broker lets go of whole segments, and of one that is written to only when all of it is old: a busy topic would be
 * kept for longer by a week or a gigabyte a partition. So a segment is a quarter of what is kept.
 */
function retentionEntries(topic: Topic, partitions: number, options: TopicOptions): Record<string, number> {
  const ms = options.retentionMs?.[topic] ?? defaultRetentionMs(topic);
  const bytes = options.retentionBytes?.[topic] ?? null;
  const share = bytes === null ? null : Math.ceil(bytes / partitions);
  return {
    'retention.ms': ms,
    ...(ms === -1 ? {} : { 'segment.ms': Math.max(leastSegmentMs, Math.floor(ms / 4)) }),
    ...(share === null ? {} : { 'retention.bytes': share }),
    ...(share === null ? {} : { 'segment.bytes': Math.max(leastSegmentBytes, Math.floor(share / 4)) }),
  };
}
