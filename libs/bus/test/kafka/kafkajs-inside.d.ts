/** What of kafkajs 2.2.4’s inside the tests break on purpose. */
declare module 'kafkajs/src/cluster/index.js' {
  export default class Cluster {
    findGroupCoordinatorMetadata(wanted: {
      readonly groupId: string;
      readonly coordinatorType: number;
    }): Promise<object>;
  }
}

declare module 'kafkajs/src/errors.js' {
  export class KafkaJSConnectionClosedError extends Error {}
  export class KafkaJSGroupCoordinatorNotFound extends Error {}
}

declare module 'kafkajs/src/protocol/recordBatch/v0/index.js' {
  interface Encoder {
    readonly buffer: Buffer;
  }
  const batches: { RecordBatch(batch: object): Promise<Encoder> };
  export default batches;
}

declare module 'kafkajs/src/protocol/recordBatch/record/v0/index.js' {
  export default function record(record: object): object;
}
