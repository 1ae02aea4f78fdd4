import type { Producer, ProducerConfig, Transaction } from 'kafkajs';
import { clusterOf, groupCoordinator, makerOf } from './cluster.js';
import type { Cluster } from './cluster.js';
import type { Clients } from './clients.js';
import { rememberCoordinators, rememberingCoordinators } from './coordinators.js';

type Offsets = Parameters<Transaction['sendOffsets']>[0];

/** A producer whose transactions take the offset beside what they write. */
export interface Writer {
  readonly producer: Producer;
  /**
   * Commits the offset in the transaction. `added` is called as soon as nothing is in the way of it any more (the markers of the
   * transaction before, a broker that is away): from then on the transaction may be written to, while the offset is being committed.
   */
  sendOffsets(transaction: Transaction, offsets: Offsets, added: () => void): Promise<void>;
}

/**
 * The producers of a consumer’s partitions. A broker answers what comes on one connection one after another, and takes as long for an
 * offset as for the records beside it: so offsets go over a connection of their own, which all partitions share.
 */
export class Writers {
  readonly #beside: Cluster;

  /** The clients must not be the consumer’s own: clients share the offsets they remember (point 13). */
  constructor(
    private readonly clients: Clients,
    private readonly topics: readonly string[],
  ) {
    this.#beside = rememberCoordinators(clusterOf(clients()));
  }

  async connect(): Promise<void> {
    await this.#beside.connect();
    // kafkajs asks about every topic there is if it is told of none.
    await this.#beside.addMultipleTargetTopics(this.topics);
  }

  disconnect(): Promise<void> {
    return this.#beside.disconnect();
  }

  writer(options: ProducerConfig): Writer {
    let added = (): void => undefined;
    const client = rememberingCoordinators(this.clients());
    const { make, replace } = makerOf(client);
    replace((asked) => this.#committingBeside(make(asked), () => added()));
    return {
      producer: client.producer(options),
      sendOffsets: (transaction, offsets, whenAdded) => {
        added = whenAdded;
        return transaction.sendOffsets(offsets);
      },
    };
  }

  /** kafkajs asks for the group’s coordinator when the transaction has taken the group in, and never else. */
  #committingBeside(cluster: Cluster, added: () => void): Cluster {
    const find = cluster.findGroupCoordinator.bind(cluster);
    cluster.findGroupCoordinator = (of) => {
      if (of.coordinatorType !== groupCoordinator) return find(of);
      added();
      return this.#beside.findGroupCoordinator(of);
    };
    return cluster;
  }
}
