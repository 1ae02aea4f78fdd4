import type { ICustomPartitioner, Producer, TopicMessages, Transaction } from 'kafkajs';
import { choosePartition } from './partitioner.js';

/** The broker never said of some records whether they were written, or said of some that they were written twice. */
export class PlacementError extends Error {
  override readonly name = 'PlacementError';
  /** What kafkajs calls an error after which the same may be tried again, from the beginning. */
  readonly retriable = true;
}

/**
 * What one producer sends, with a look at whether all of it arrived. When a send goes to several brokers and is tried again because one of
 * them went away, kafkajs 2.2.4 asks none again that has answered before: records whose partition has moved to such a one are
 * never sent, and those whose partition has moved away from it are sent twice. It reports success all the same, but tells
 * which partitions answered.
 */
export class Placement {
  readonly #chosen = new Set<string>();

  /** For the producer that is to be watched: what it chooses for each record is noted. */
  readonly createPartitioner: ICustomPartitioner = () => (asked) => {
    const partition = choosePartition(asked);
    this.#chosen.add(`${asked.topic}/${partition}`);
    return partition;
  };

  /** Sends one after another; one producer’s sends must not overlap. Throws PlacementError if not each partition answered once. */
  async send(sender: Producer | Transaction, sends: readonly (readonly TopicMessages[])[]): Promise<void> {
    for (const topicMessages of sends) {
      this.#chosen.clear();
      const answers = await sender.sendBatch({ acks: -1, topicMessages: [...topicMessages] });
      const answered = answers.map(({ topicName, partition }) => `${topicName}/${partition}`);
      const missing = [...this.#chosen].filter((place) => !answered.includes(place));
      if (missing.length > 0)
        throw new PlacementError(`Nobody said that the records for ${missing.join(', ')} were written.`);
      if (answered.length > this.#chosen.size) throw new PlacementError('Some records may have been written twice.');
    }
  }
}
