import type { Encoded } from '../../processing/outputs.js';
import type { Cluster } from '../kafkajs/cluster.js';
import { causes, isRetriable } from '../kafkajs/failure.js';
import { partitionOf } from './partitioner.js';
import type { TopicRecords } from './produce-batches.js';
import { protocolError } from './protocol-error.js';
import { encodeBatch } from './record-batch.js';
import type { ProducerIdentity } from './record-batch.js';
import { produce } from './requests.js';
import type { PartitionAnswer, PartitionBatch } from './requests.js';
import { sendTo } from './send-to.js';
import { TooLarge, tooLargeCodes } from './topic-limits.js';
import { attempts, untilItPasses } from './until-it-passes.js';

/**
 * How long a broker waits for its replicas, milliseconds: less than a request waits for its answer, so that the next
 * one does not stand behind it.
 */
const acknowledgedMs = 4_000;
/** Sequence numbers go round here. */
const sequences = 2 ** 31;

interface SenderOptions {
  readonly cluster: Cluster;
  /** Null outside of transactions. */
  readonly transactionalId: string | null;
}

interface SendOptions {
  readonly identity: ProducerIdentity;
  /** Of Produce. */
  readonly version: 7 | 12;
  /**
   * Called before the batches are sent, each time, with their partitions. `leaders` is how many brokers get some of
   * them.
   */
  readonly announce?: (batches: readonly PartitionBatch[], leaders: number) => Promise<void>;
}

/**
 * Writes each record once. What a broker has not acknowledged is sent to it again, or to the partition’s new leader,
 * as the same batch under the same sequence number, so that one which it had taken is not taken twice. Sends must not
 * overlap.
 */
export class Sender {
  /** By topic and partition: the sequence number of the next record. */
  private readonly next = new Map<string, number>();

  constructor(private readonly options: SenderOptions) {}

  /** A new identity counts from zero. */
  restart(): void {
    this.next.clear();
  }

  /** Rejects if it is not known of some records whether they were written. */
  async send(topics: readonly TopicRecords[], options: SendOptions): Promise<void> {
    let batches: readonly PartitionBatch[] | undefined;
    const attempt = async (): Promise<void> => {
      batches ??= await this.batchesOf(topics, options);
      const { refused, error } = await this.attempt(batches, options);
      batches = refused;
      if (refused.length > 0) throw error;
    };
    await untilItPasses(attempts.brief, attempt, (error) => this.lookAgain(error));
  }

  private async batchesOf(
    topics: readonly TopicRecords[],
    { identity }: SendOptions,
  ): Promise<readonly PartitionBatch[]> {
    const { cluster, transactionalId } = this.options;
    await cluster.addMultipleTargetTopics(topics.map(({ topic }) => topic));
    await cluster.refreshMetadataIfNecessary();
    const placed = topics.map(({ topic, records }) => {
      const { length: count } = cluster.findTopicPartitionMetadata(topic);
      if (count === 0) throw protocolError(unknownTopic);
      return { topic, byPartition: Map.groupBy(records, ({ key }) => partitionOf(key, count)) };
    });
    const timestamp = Date.now();
    return placed.flatMap(({ topic, byPartition }) =>
      [...byPartition].map(([partition, ofPartition]) => {
        const sequence = this.take(`${topic}/${partition}`, ofPartition);
        const transactional = transactionalId !== null;
        return {
          topic,
          partition,
          batch: encodeBatch(ofPartition, { ...identity, sequence, transactional, timestamp }),
        };
      }),
    );
  }

  private take(place: string, { length }: readonly Encoded[]): number {
    const sequence = this.next.get(place) ?? 0;
    this.next.set(place, (sequence + length) % sequences);
    return sequence;
  }

  /** Sends each leader its batches and waits for all answers; what was not taken, and why. */
  private async attempt(
    batches: readonly PartitionBatch[],
    { version, announce }: SendOptions,
  ): Promise<{ readonly refused: readonly PartitionBatch[]; readonly error?: unknown }> {
    const { cluster, transactionalId } = this.options;
    const byLeader = Map.groupBy(batches, (batch) => this.leaderOf(batch));
    await announce?.(batches, byLeader.size);
    const answers = await Promise.all(
      [...byLeader].map(async ([nodeId, ofLeader]) => {
        try {
          const broker = await cluster.findBroker({ nodeId });
          const answered = await sendTo(broker, produce(version, transactionalId, ofLeader, acknowledgedMs));
          return ofLeader.map((batch) => ({ batch, error: errorOf(batch, answered) }));
        } catch (error) {
          return ofLeader.map((batch) => ({ batch, error }));
        }
      }),
    );
    const refused = answers.flat().filter(({ error }) => error !== undefined);
    const final = refused.find(({ error }) => !isRetriable(error));
    return { refused: refused.map(({ batch }) => batch), error: (final ?? refused[0])?.error };
  }

  private leaderOf({ topic, partition }: PartitionBatch): number {
    const found = this.options.cluster
      .findTopicPartitionMetadata(topic)
      .find(({ partitionId }) => partitionId === partition);
    if (found === undefined) throw protocolError(unknownTopic);
    return found.leader;
  }

  private async lookAgain(error: unknown): Promise<void> {
    const { cluster } = this.options;
    for (const { name, host, port } of causes(error))
      if (name === 'KafkaJSConnectionClosedError' && host !== undefined && port !== undefined)
        cluster.removeBroker({ host, port });
    try {
      if (!cluster.isConnected()) await cluster.connect();
      await cluster.refreshMetadata();
    } catch (failed) {
      // The next attempt meets it too, if it is still so.
      if (!isRetriable(failed)) throw failed;
    }
  }
}

/** UNKNOWN_TOPIC_OR_PARTITION: it may be there in a moment. */
const unknownTopic = 3;

/** Where a batch has the number of its records. */
const countAt = 57;

function errorOf(batch: PartitionBatch, answers: readonly PartitionAnswer[]) {
  const answer = answers.find(({ topic, partition }) => topic === batch.topic && partition === batch.partition);
  if (answer === undefined)
    return new UnansweredError(`The broker did not confirm the records for ${batch.topic}/${batch.partition}.`);
  if (answer.errorCode === 0) return undefined;
  const error = protocolError(answer.errorCode);
  if (!tooLargeCodes.has(answer.errorCode)) return error;
  return new TooLarge(batch.topic, batch.batch.readInt32BE(countAt), batch.batch.byteLength, error);
}

/** A broker answered, and said nothing of a partition that it was sent records for. */
class UnansweredError extends Error {
  override readonly name = 'UnansweredError';
  readonly retriable = true;
}
