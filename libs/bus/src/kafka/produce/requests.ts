import { assertSuccess } from './protocol-error.js';
import type { ProducerIdentity } from './record-batch.js';
import { AnswerReader, RequestWriter } from './wire.js';

/** A request in the form in which a connection of kafkajs takes it. */
export interface Request<T> {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    readonly encode: () => Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>;
  };
  readonly response: {
    readonly decode: (raw: Buffer) => Promise<Answer<T>>;
    readonly parse: (answer: Answer<T>) => Promise<T>;
  };
}

/** What a broker says. */
interface Answer<T> {
  readonly value: T;
  /** Of the whole request; 0 is no error. */
  readonly errorCode?: number;
  /** For so long kafkajs sends nothing more on the connection, as a quota wants it; milliseconds. */
  readonly clientSideThrottleTime: number;
}

/** The numbers of the requests. */
export const apiKeys = { produce: 0, offsetFetch: 9, apiVersions: 18, endTxn: 26, txnOffsetCommit: 28 } as const;

/** What one broker gets of one partition. */
export interface PartitionBatch {
  readonly topic: string;
  readonly partition: number;
  readonly batch: Buffer;
}

/** Its answer; 0 is no error. */
export interface PartitionAnswer {
  readonly topic: string;
  readonly partition: number;
  readonly errorCode: number;
}

/**
 * The version says who adds a partition to the transaction: up to 11 the producer did before, from 12 on the broker
 * does with its first batch.
 */
export function produce(
  version: 7 | 12,
  transactionalId: string | null,
  batches: readonly PartitionBatch[],
  timeoutMs: number,
): Request<readonly PartitionAnswer[]> {
  const flexible = version === 12;
  const encode = (): Buffer => {
    const writer = new RequestWriter(flexible).text(transactionalId).int16(-1).int32(timeoutMs);
    writer.array([...Map.groupBy(batches, ({ topic }) => topic)], ([topic, ofTopic]) => {
      writer.text(topic).array(ofTopic, ({ partition, batch }) => writer.int32(partition).bytes(batch).end());
      writer.end();
    });
    return writer.end().done();
  };
  return requestOf<readonly PartitionAnswer[]>('Produce', apiKeys.produce, version, flexible, encode, (answer) => {
    const topics = answer.array(() => {
      const topic = answer.text() ?? '';
      const partitions = answer.array(() => {
        const [partition, errorCode] = [answer.int32(), answer.int16()];
        // Where and when it was written, and where the log begins.
        for (let skipped = 0; skipped < 3; skipped++) answer.int64();
        if (flexible) {
          answer.array(() => {
            answer.int32();
            answer.text();
            answer.end();
          });
          answer.text();
        }
        answer.end();
        return { topic, partition, errorCode };
      });
      answer.end();
      return partitions;
    });
    return { value: topics.flat(), clientSideThrottleTime: answer.int32() };
  });
}

/** A member of a group, since one of its rebalances: what it commits counts until the next one. */
export interface Member {
  readonly memberId: string;
  readonly generation: number;
}

/** Where a group’s next owner of a partition reads on. */
export interface PartitionOffset {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly metadata: string;
}

/** Offsets of a group, and who says so. */
export interface OffsetCommit {
  readonly groupId: string;
  readonly member: Member;
  readonly offsets: readonly PartitionOffset[];
}

/**
 * The version says who adds the offsets to the transaction: up to 4 the producer did before, from 5 on the
 * coordinator does with them.
 */
export function txnOffsetCommit(
  version: 3 | 5,
  transactionalId: string,
  { producerId, epoch }: ProducerIdentity,
  { groupId, member, offsets }: OffsetCommit,
): Request<null> {
  const encode = (): Buffer => {
    const writer = new RequestWriter(true).text(transactionalId).text(groupId).int64(producerId).int16(epoch);
    // By them the coordinator knows a member that is one no more (KIP-447).
    writer.int32(member.generation).text(member.memberId).text(null);
    writer.array([...Map.groupBy(offsets, ({ topic }) => topic)], ([topic, ofTopic]) => {
      writer.text(topic).array(ofTopic, ({ partition, offset, metadata }) => {
        writer.int32(partition).int64(BigInt(offset)).int32(-1).text(metadata).end();
      });
      writer.end();
    });
    return writer.end().done();
  };
  return requestOf<null>('TxnOffsetCommit', apiKeys.txnOffsetCommit, version, true, encode, (answer) => {
    const clientSideThrottleTime = answer.int32();
    const codes = answer.array(() => {
      answer.text();
      const ofTopic = answer.array(() => {
        answer.int32();
        const code = answer.int16();
        answer.end();
        return code;
      });
      answer.end();
      return ofTopic;
    });
    return { value: null, errorCode: firstOf(codes.flat()), clientSideThrottleTime };
  });
}

/** What a group has committed for one partition. */
export interface Committed {
  /** -1 if there is nothing. */
  readonly offset: number;
  readonly metadata: string | null;
}

/** With `stable` it is refused while a transaction that has an offset of the partition is not over. */
export function offsetFetch(groupId: string, topic: string, partition: number, stable: boolean): Request<Committed> {
  const encode = (): Buffer => {
    const writer = new RequestWriter(true).text(groupId);
    writer.array([topic], () => {
      writer.text(topic).array([partition], () => writer.int32(partition));
      writer.end();
    });
    return writer.boolean(stable).end().done();
  };
  return requestOf<Committed>('OffsetFetch', apiKeys.offsetFetch, 7, true, encode, (answer) => {
    const clientSideThrottleTime = answer.int32();
    const found = answer.array(() => {
      answer.text();
      const ofTopic = answer.array(() => {
        answer.int32();
        const offset = Number(answer.int64());
        answer.int32();
        const one = { committed: { offset, metadata: answer.text() }, code: answer.int16() };
        answer.end();
        return one;
      });
      answer.end();
      return ofTopic;
    });
    const [one] = found.flat();
    const errorCode = firstOf([answer.int16(), one?.code ?? 0]);
    return { value: one?.committed ?? { offset: -1, metadata: null }, errorCode, clientSideThrottleTime };
  });
}

/** The first that is an error. */
function firstOf(codes: readonly number[]): number {
  return codes.find((code) => code !== 0) ?? 0;
}

/**
 * Version 5: each end raises the producer’s epoch, so that nothing of this transaction can arrive in the next one.
 * Returns who it is then.
 */
export function endTxn(
  transactionalId: string,
  { producerId, epoch }: ProducerIdentity,
  committed: boolean,
): Request<ProducerIdentity> {
  const encode = (): Buffer =>
    new RequestWriter(true).text(transactionalId).int64(producerId).int16(epoch).boolean(committed).end().done();
  return requestOf('EndTxn', apiKeys.endTxn, 5, true, encode, (answer) => {
    const [clientSideThrottleTime, errorCode] = [answer.int32(), answer.int16()];
    return { value: { producerId: answer.int64(), epoch: answer.int16() }, errorCode, clientSideThrottleTime };
  });
}

/** The features that are in force in the whole cluster, by their levels. */
export function finalizedFeatures(): Request<ReadonlyMap<string, number>> {
  const encode = (): Buffer => new RequestWriter(true).text('sluice').text('1').end().done();
  return requestOf<ReadonlyMap<string, number>>(
    'ApiVersions',
    apiKeys.apiVersions,
    3,
    true,
    encode,
    (answer) => {
      const errorCode = answer.int16();
      answer.array(() => {
        for (let skipped = 0; skipped < 3; skipped++) answer.int16();
        answer.end();
      });
      const clientSideThrottleTime = answer.int32();
      const levels = new Map<string, number>();
      answer.end((field) => {
        if (field !== finalized) return;
        answer.array(() => {
          levels.set(answer.text() ?? '', answer.int16());
          answer.int16();
          answer.end();
        });
      });
      return { value: levels, errorCode, clientSideThrottleTime };
    },
    false,
  );
}

const finalized = 2;

function requestOf<T>(
  apiName: string,
  apiKey: number,
  apiVersion: number,
  flexible: boolean,
  encode: () => Buffer,
  read: (answer: AnswerReader) => Answer<T>,
  headed = flexible,
): Request<T> {
  return {
    request: {
      apiKey,
      apiVersion,
      apiName,
      encode: async () => {
        const bytes = encode();
        return { buf: bytes, buffer: bytes };
      },
    },
    response: {
      decode: async (raw) => read(new AnswerReader(raw, flexible, headed)),
      parse: async ({ value, errorCode = 0 }) => {
        assertSuccess(errorCode);
        return value;
      },
    },
  };
}
