import type { Broker, Cluster } from '../kafkajs/cluster.js';
import { isConcurrentTransactions, isRetriable, isStaleGeneration } from '../kafkajs/failure.js';

/** What a broker coordinates, by kafkajs’s numbers. */
export const coordinates = { group: 0, transaction: 1 } as const;

/**
 * The broker that coordinates a group or a transactional id. kafkajs asks who it is before every request, four of the
 * nine requests of a transaction; here the answer is believed until a request to that broker fails.
 */
export class Coordinator {
  private node: Promise<number> | undefined;
  /** The last request failed: the brokers may have changed places. */
  private failed = false;

  constructor(
    private readonly cluster: Cluster,
    private readonly kind: (typeof coordinates)[keyof typeof coordinates],
    private readonly id: string,
  ) {}

  async ask<T>(request: (broker: Broker) => Promise<T>): Promise<T> {
    const node = (this.node ??= this.find());
    try {
      const answer = await request(await this.cluster.findBroker({ nodeId: await node }));
      this.failed = false;
      return answer;
    } catch (error) {
      // It is the coordinator who says so.
      if (isConcurrentTransactions(error) || isStaleGeneration(error)) throw error;
      this.failed = true;
      if (this.node === node) this.node = undefined;
      throw error;
    }
  }

  /** Some topic without a leader makes it fail, which is no matter here. */
  private async lookAgain(): Promise<void> {
    try {
      if (this.failed) await this.cluster.refreshMetadata();
      else await this.cluster.refreshMetadataIfNecessary();
    } catch (error) {
      if (!isRetriable(error)) throw error;
    }
  }

  private async find(): Promise<number> {
    if (!this.cluster.isConnected()) await this.cluster.connect();
    await this.lookAgain();
    const { coordinator } = await this.cluster.findGroupCoordinatorMetadata({
      groupId: this.id,
      coordinatorType: this.kind,
    });
    return coordinator.nodeId;
  }
}
