import type { Kafka } from 'kafkajs';
import type { Request } from '../produce/requests.js';

/** Who writes, as kafkajs’s requests want it. */
interface Writer {
  readonly transactionalId: string;
  readonly producerId: string;
  readonly producerEpoch: number;
}

/** A broker, and the connections to it. */
export interface Broker {
  /** By the number of the request, which versions it takes; null before it is connected. */
  readonly versions: Readonly<Record<number, { readonly maxVersion: number }>> | null;
  readonly connectionPool: { send<T>(request: Request<T>): Promise<T> };
  disconnect(): Promise<void>;
  initProducerId(asked: {
    readonly transactionalId?: string;
    /** Milliseconds. */
    readonly transactionTimeout: number;
  }): Promise<{ readonly producerId: string; readonly producerEpoch: number }>;
  addPartitionsToTxn(
    asked: Writer & { readonly topics: readonly { readonly topic: string; readonly partitions: readonly number[] }[] },
  ): Promise<unknown>;
  addOffsetsToTxn(asked: Writer & { readonly groupId: string }): Promise<unknown>;
  /** Outside of any transaction; refused if the member is one no more. */
  offsetCommit(asked: {
    readonly groupId: string;
    readonly groupGenerationId: number;
    readonly memberId: string;
    readonly topics: readonly {
      readonly topic: string;
      readonly partitions: readonly {
        readonly partition: number;
        readonly offset: string;
        readonly metadata: string;
      }[];
    }[];
  }): Promise<unknown>;
  endTxn(asked: Writer & { readonly transactionResult: boolean }): Promise<unknown>;
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
  isConnected(): boolean;
  removeBroker(address: { readonly host: string; readonly port: number }): void;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number; readonly leader: number }[];
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, readonly number[]>>;
  findBroker(node: { readonly nodeId: string | number }): Promise<Broker>;
  findControllerBroker(): Promise<Broker>;
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
 * The cluster that a client makes for its consumers and producers, for code that sends requests by itself: a reader
 * without a group, since kafkajs’s join one, which takes seconds on a usual broker and leaves the group behind, and
 * the producers (../produce).
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
