/** What of kafkajs 2.2.4’s inside the bus uses: the patches in this folder, membership and the producers say why. */
declare module 'kafkajs/src/broker/index.js' {
  /** A connection to a broker. */
  export default class Broker {
    fetch(request: object): Promise<{
      readonly responses: readonly { readonly partitions: readonly object[] }[];
    }>;
    metadata(topics: readonly string[]): Promise<{ readonly brokers: readonly object[] }>;
    syncGroup(asked: { readonly memberId: string; readonly generationId: number }): Promise<unknown>;
    readonly connectionPool: { send<T>(request: object): Promise<T> };
    disconnect(): Promise<void>;
  }
}

/** Likewise. */
declare module 'kafkajs/src/cluster/brokerPool.js' {
  /** A client's connections to the brokers, and what it knows of the topics. */
  export default class BrokerPool {
    refreshMetadata(topics: readonly string[]): Promise<void>;
  }
}

/** Likewise. */
declare module 'kafkajs/src/protocol/requests/metadata/index.js' {
  interface Request {
    readonly request: { encode(): Promise<{ readonly buffer: Buffer }> };
    readonly response: object;
  }

  const metadata: {
    protocol(of: {
      readonly version: number;
    }): (asked: { readonly topics: readonly string[]; readonly allowAutoTopicCreation: boolean }) => Request;
  };
  export default metadata;
}

/** Likewise. */
declare module 'kafkajs/src/consumer/batch.js' {
  import type { KafkaMessage } from 'kafkajs';

  /** One partition’s part of a fetch, without control records and aborted ones. */
  export default class Batch {
    constructor(topic: string, fetchedOffset: string, data: object);
    readonly messages: readonly KafkaMessage[];
    /** With them. */
    readonly rawMessages: readonly unknown[];
    /** Of all of them; meaningless if there is none. */
    lastOffset(): string;
  }
}

/** Likewise. */
declare module 'kafkajs/src/consumer/offsetManager/index.js' {
  /** Where a consumer reads on, of the partitions that it was given. */
  export default class OffsetManager {
    readonly cluster: object;
    /** Called where the log has nothing at the offset that was asked for. */
    setDefaultOffset(place: { readonly topic: string; readonly partition: number }): Promise<void>;
  }
}

/** Likewise. */
declare module 'kafkajs/src/consumer/consumerGroup.js' {
  /** A consumer in its group. */
  export default class ConsumerGroup {
    readonly groupId: string;
    /** Null before it has joined, and once the group has forgotten it. */
    readonly memberId: string | null;
    joinAndSync(): Promise<void>;
    heartbeat(options: { readonly interval: number }): Promise<void>;
  }
}

declare module 'kafkajs/src/network/requestQueue/index.js' {
  /** The requests of one connection. */
  export default class RequestQueue {
    constructor(options: object);
    /** Those that wait to be sent. */
    readonly pending: unknown[];
    /** The timer of the next look. */
    readonly throttleCheckTimeoutId: object | null;
    scheduleCheckPendingRequests(): void;
    destroy(): void;
  }
}

declare module 'kafkajs/src/protocol/error.js' {
  import type { KafkaJSProtocolError } from 'kafkajs';

  /** The error that a broker’s number stands for. */
  export function createErrorFromCode(code: number): KafkaJSProtocolError;
}
