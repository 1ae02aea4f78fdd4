import { setTimeout as sleep } from 'node:timers/promises';
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import { Kafka, logLevel } from 'kafkajs';
import type { Admin } from 'kafkajs';
import { passOverAborted } from '../../../libs/bus/src/kafka/kafkajs/aborted.ts';
import { clusterOf } from '../../../libs/bus/src/kafka/kafkajs/cluster.ts';
import type { Cluster } from '../../../libs/bus/src/kafka/kafkajs/cluster.ts';
import { askAgainIfNoBrokers } from '../../../libs/bus/src/kafka/kafkajs/no-brokers.ts';
import { readers } from '../check/observed.ts';
import type { Committed, Found, Place } from '../check/observed.ts';

/** How long a look at the log may take, milliseconds. */
const patienceMs = 60_000;

export const topics = [
  'agent.requests',
  'agent.calls',
  'agent.toolsets',
  'agent.tool-calls',
  'agent.steps',
  'agent.responses',
  'agent.dead-letters',
] as const;

/** A record with its bytes. */
export interface Read extends Found {
  readonly value: Buffer;
}

/**
 * Looks at the log past the services and their lines, with a plain client and nothing of the bus but what mends that
 * client.
 */
export class Watcher {
  private readonly _kafka: Kafka;
  private readonly registry: SchemaRegistry;
  private readonly prefix: string;
  private readonly admin: Admin;
  private readonly cluster: Cluster;
  private reads = 0;

  constructor(brokers: readonly string[], registryUrl: string, prefix: string) {
    passOverAborted();
    askAgainIfNoBrokers();
    const retry = { initialRetryTime: 100, maxRetryTime: 1_000, retries: 60 };
    this._kafka = new Kafka({ clientId: 'watcher', brokers: [...brokers], logLevel: logLevel.NOTHING, retry });
    this.registry = new SchemaRegistry({ host: registryUrl });
    this.prefix = prefix;
    this.admin = this._kafka.admin();
    // An admin’s ends are those of committed records: a transaction whose markers a killed broker has yet to write
    // would be missing.
    this.cluster = clusterOf(this._kafka);
  }

  async open(): Promise<void> {
    await insist(() => this.admin.connect());
    await insist(() => this.cluster.connect());
    await insist(() => this.cluster.addMultipleTargetTopics(topics.map((topic) => this.prefix + topic)));
  }

  async close(): Promise<void> {
    await this.admin.disconnect();
    await this.cluster.disconnect();
  }

  /** A client of its own, to publish with. */
  get kafka(): Kafka {
    return this._kafka;
  }

  committed(): Promise<readonly Committed[]> {
    return insist(() => this._committed());
  }

  /** Where each partition ends: an open transaction's records included. */
  ends(): Promise<readonly Place[]> {
    return insist(() => this._ends());
  }

  private async _committed(): Promise<readonly Committed[]> {
    const all = await Promise.all(
      readers.map(async ({ group, topic }) => {
        const groupId = this.prefix + group;
        const [found] = await this.admin.fetchOffsets({ groupId, topics: [this.prefix + topic] });
        return (found?.partitions ?? []).map(({ partition, offset, metadata }) => ({
          group,
          topic,
          partition,
          offset: Number(offset),
          metadata: metadata ?? '',
        }));
      }),
    );
    return all.flat().filter(({ offset }) => offset >= 0);
  }

  private async _ends(): Promise<readonly Place[]> {
    await this.cluster.refreshMetadata();
    const asked = topics.map((topic) => {
      const name = this.prefix + topic;
      const partitions = this.cluster.findTopicPartitionMetadata(name);
      return { topic: name, partitions: partitions.map(({ partitionId }) => ({ partition: partitionId })) };
    });
    return (await this.cluster.fetchTopicsOffset(asked)).flatMap(({ topic, partitions }) =>
      partitions.map(({ partition, offset }) => ({
        topic: topic.slice(this.prefix.length),
        partition,
        offset: Number(offset),
      })),
    );
  }

  /** All committed records up to where the log ends now; what a transaction has under way is waited for. */
  async read(): Promise<readonly Read[]> {
    const open = new Map(
      (await this.ends())
        .filter(({ offset }) => offset > 0)
        .map((end) => [`${this.prefix}${end.topic}/${end.partition}`, end.offset]),
    );
    // By place: a broker that comes back may have some of them read twice.
    const raw = new Map<string, Place & { readonly key: string; readonly value: Buffer }>();
    const consumer = this._kafka.consumer({
      groupId: `${this.prefix}watcher-${process.pid}-${++this.reads}`,
      sessionTimeout: 30_000,
    });
    const passed = (topic: string, partition: number, offset: number): void => {
      const place = `${topic}/${partition}`;
      if (offset + 1 >= (open.get(place) ?? Infinity)) open.delete(place);
    };
    consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload }) =>
      passed(payload.topic, payload.partition, Number(payload.lastOffset)),
    );
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: topics.map((topic) => this.prefix + topic), fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatch: ({ batch }) => {
          for (const { offset, key, value } of batch.messages)
            raw.set(`${batch.topic}/${batch.partition}/${offset}`, {
              topic: batch.topic.slice(this.prefix.length),
              partition: batch.partition,
              offset: Number(offset),
              key: key?.toString() ?? '',
              value: value ?? Buffer.alloc(0),
            });
          return Promise.resolve();
        },
      });
      for (const until = Date.now() + patienceMs; open.size > 0; await sleep(20))
        if (Date.now() > until) throw new Error(`Nothing can be read up to the end of ${[...open.keys()].join(', ')}.`);
    } finally {
      await consumer.disconnect();
    }
    const inOrder = [...raw.values()].sort((a, b) => a.offset - b.offset);
    return Promise.all(inOrder.map(async (one) => ({ ...one, record: await this.decode(one.value) })));
  }

  private async decode(value: Buffer): Promise<Record<string, unknown> | null> {
    try {
      if (value[0] === 0x7b) return JSON.parse(value.toString()) as Record<string, unknown>;
      return (await this.registry.decode(value)) as Record<string, unknown>;
    } catch {
      // Nobody can read it, and some were written so: then it is a record without contents.
      return null;
    }
  }
}

/** Asks again while a broker that has just come back is not ready for the question. */
async function insist<T>(ask: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + patienceMs; ; await sleep(200)) {
    try {
      return await ask();
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
}
