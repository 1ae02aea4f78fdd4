import type { Kafka } from 'kafkajs';

/** A connection to the broker that leads some partitions. */
export interface Leader {
  fetch(request: {
    readonly isolationLevel: number;
    readonly maxWaitTime: number;
    readonly minBytes: number;
    readonly maxBytes: number;
    readonly topics: readonly {
      readonly topic: string;
      readonly partitions: readonly {
        readonly partition: number;
        readonly fetchOffset: string;
        readonly maxBytes: number;
      }[];
    }[];
  }): Promise<{
    readonly responses: readonly {
      readonly topicName: string;
      readonly partitions: readonly (object & { readonly partition: number })[];
    }[];
  }>;
}

/** kafkajs’s own view of the brokers. */
export interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  refreshMetadata(): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number }[];
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, readonly number[]>>;
  findBroker(node: { readonly nodeId: string }): Promise<Leader>;
  /** Asks a broker which one coordinates a group or a transactional id. */
  findGroupCoordinatorMetadata(of: {
    readonly groupId: string;
    readonly coordinatorType: number;
  }): Promise<{ readonly coordinator: { readonly nodeId: number } }>;
  /** The end is the log’s, transactions that are not over included: what they wrote will be seen, or was aborted. */
  fetchTopicsOffset(
    topics: readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number }[];
      readonly fromBeginning?: boolean;
      readonly fromTimestamp?: number;
    }[],
  ): Promise<
    readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
    }[]
  >;
}

/** Of offsets only; each fetch says for itself what it wants to see. */
const readUncommitted = 0;
const maker = 'private:Kafka:createCluster';

/**
 * kafkajs reads only as a member of a group, and joining one takes seconds on a usual broker and leaves the group behind.
 * Whoever only wants to look takes the cluster that a client makes for its consumers, and fetches by itself.
 */
export function clusterOf(client: Kafka): Cluster {
  const { make } = makerOf(client);
  return make({ allowAutoTopicCreation: false, metadataMaxAge: 300_000, isolationLevel: readUncommitted });
}

type Maker = (options: object) => Cluster;

/** Of what a client makes its clusters with, and how another one is put in its place. */
export function makerOf(client: Kafka): { readonly make: Maker; replace(other: Maker): void } {
  const symbol = Object.getOwnPropertySymbols(client).find(({ description }) => description === maker);
  const members = client as unknown as Record<symbol, unknown>;
  const make = symbol === undefined ? undefined : members[symbol];
  if (symbol === undefined || typeof make !== 'function') {
    throw new Error(`This version of kafkajs has no ${maker}. Use version 2.2.4, or teach cluster.ts the new one.`);
  }
  return { make: make as Maker, replace: (other) => void (members[symbol] = other) };
}
