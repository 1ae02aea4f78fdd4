import type { Cluster } from '../kafkajs/cluster.js';
import { coordinates, Coordinator } from '../produce/coordinator.js';
import { offsetFetch } from '../produce/requests.js';
import type { Committed, Member, PartitionOffset } from '../produce/requests.js';
import { sendTo } from '../produce/send-to.js';
import { attempts, untilItPasses } from '../produce/until-it-passes.js';

/** What a group has committed, past kafkajs: it knows no transactions that are not over. */
export class GroupOffsets {
  private readonly coordinator: Coordinator;

  /** `groupId` as the broker knows it. */
  constructor(
    private readonly cluster: Cluster,
    private readonly groupId: string,
  ) {
    this.coordinator = new Coordinator(cluster, coordinates.group, groupId);
  }

  /** What stands now, whatever a transaction that is not over may make of it. */
  now(topic: string, partition: number): Promise<Committed> {
    return this.fetch(topic, partition, false);
  }

  /** What stands once no transaction is under way that has an offset of the partition. */
  settled(topic: string, partition: number): Promise<Committed> {
    return this.fetch(topic, partition, true);
  }

  /** Outside of any transaction. Refused for an unknown member, or after a rebalance. */
  commit(member: Member, { topic, partition, offset, metadata }: PartitionOffset): Promise<void> {
    const { groupId } = this;
    const { memberId, generation: groupGenerationId } = member;
    const topics = [{ topic, partitions: [{ partition, offset: String(offset), metadata }] }];
    return untilItPasses(attempts.brief, () =>
      this.coordinator.ask(async (broker) => {
        await broker.offsetCommit({ groupId, groupGenerationId, memberId, topics });
      }),
    );
  }

  private async fetch(topic: string, partition: number, stable: boolean): Promise<Committed> {
    await this.cluster.connect();
    return untilItPasses(attempts.patient, () =>
      this.coordinator.ask((broker) => sendTo(broker, offsetFetch(this.groupId, topic, partition, stable))),
    );
  }
}
