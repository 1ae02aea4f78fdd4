import type { ICustomPartitioner, Message, Producer, TopicMessages, Transaction } from 'kafkajs';
import { choosePartition } from './partitioner.js';

/** Nobody knows of some records whether they were written, or how often. */
export class PlacementError extends Error {
  override readonly name = 'PlacementError';
  /** What kafkajs calls an error after which the same may be tried again, from the beginning. */
  readonly retriable = true;
}

/** What kafkajs must not try again by itself. */
class NotAgain extends Error {
  override readonly name = 'NotAgain';
}

/**
 * What one producer sends, with a look at how. When a send goes to several brokers and one of them fails, kafkajs 2.2.4 tries again while it
 * still waits for the others: what these had taken is written twice, under sequence numbers that look like new records'. And it asks
 * none again that has answered, wherever the partitions have moved since. So a send to several brokers is tried once; one to a single
 * broker has ended before it is tried again, and the broker knows the records again by their numbers.
 */
export class Placement {
  /** Of the attempt under way. */
  readonly #placed = new Set<Message>();
  readonly #places = new Set<string>();
  readonly #leaders = new Set<number>();
  #refused = false;

  /** For the producer that is to be watched: what it chooses for each record is noted. */
  readonly createPartitioner: ICustomPartitioner = () => (asked) => {
    const { topic, message, partitionMetadata } = asked;
    // It asks again for a record that it asked for already: an attempt has failed, and another one begins.
    if (this.#placed.has(message)) this.#again();
    const partition = choosePartition(asked);
    this.#placed.add(message);
    this.#places.add(`${topic}/${partition}`);
    this.#leaders.add(partitionMetadata.find(({ partitionId }) => partitionId === partition)?.leader ?? -1);
    return partition;
  };

  /** Sends one after another; one producer’s sends must not overlap. Throws PlacementError if it is not known what was written. */
  async send(sender: Producer | Transaction, sends: readonly (readonly TopicMessages[])[]): Promise<void> {
    for (const topicMessages of sends) {
      this.#refused = false;
      this.#begin();
      const answers = await this.#answers(sender, topicMessages);
      const answered = new Set(answers.map(({ topicName, partition }) => `${topicName}/${partition}`));
      const missing = [...this.#places].filter((place) => !answered.has(place));
      if (missing.length > 0)
        throw new PlacementError(`Nobody said that the records for ${missing.join(', ')} were written.`);
    }
  }

  async #answers(sender: Producer | Transaction, topicMessages: readonly TopicMessages[]) {
    try {
      return await sender.sendBatch({ acks: -1, topicMessages: [...topicMessages] });
    } catch (error) {
      if (!this.#refused) throw error;
      throw new PlacementError('One of several brokers failed while the others were still writing.');
    }
  }

  #again(): void {
    this.#refused ||= this.#leaders.size > 1;
    if (this.#refused) throw new NotAgain('What went to several brokers is not sent again.');
    this.#begin();
  }

  #begin(): void {
    this.#placed.clear();
    this.#places.clear();
    this.#leaders.clear();
  }
}
