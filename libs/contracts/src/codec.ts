import avsc from 'avsc';
import type { ForSchemaOptions, Resolver, Schema, Type } from 'avsc';
import { Fault, largestRecord } from '@sluice/core';
import { withFrozenLists } from './frozen-lists.js';
import { withSharedSteps } from './shared-steps.js';
import { withWellFormedText } from './well-formed-text.js';
import { recordFromJson, ShapeError } from './json.js';
import { inProcess, selfContained } from './schema.js';
import type { AvroType } from './schema.js';
import { allTopics, recordNames, subjectOf } from './topics/topics.js';
import type { RecordOf, Topic } from './topics/topics.js';

/** Where schemas have numbers: a schema registry, or a table beside the log. */
export interface SchemaRegistry {
  /** The number of this schema under the subject, registering it if it is new there. */
  register(subject: string, schema: string): Promise<number>;
  /** The schema of a number, undefined if there is none. Throws a retryable Fault if it cannot be asked. */
  find(id: number): Promise<string | undefined>;
}

/**
 * Turns records into payloads and back: magic byte 0, schema number (4 bytes, big-endian), Avro. A payload that
 * begins with `{` is JSON.
 */
export interface Codec {
  encode<T extends Topic>(topic: T, record: RecordOf<T>): Buffer;
  /** Throws Fault('undecodable'). A promise only where the writer's schema has to be fetched first. */
  decode<T extends Topic>(topic: T, payload: Uint8Array): RecordOf<T> | Promise<RecordOf<T>>;
  /**
   * The Avro in a payload, without what stands before it; null if it is of another schema than the topic’s of today.
   */
  avro(topic: Topic, payload: Uint8Array): Buffer | null;
  /**
   * The schema that a payload’s writer had, as JSON, where it is another than the topic’s of today and the payload
   * was decoded; else null.
   */
  writer(topic: Topic, payload: Uint8Array): string | null;
  /** The record of what `avro` gave. Throws Fault('undecodable'). */
  fromAvro<T extends Topic>(topic: T, avro: Buffer): RecordOf<T>;
}

const headerBytes = 5;

/** The largest payload of one record, in bytes. */
export const maxPayloadBytes = largestRecord;

/** Registers every topic's schema before the first record, so that no record waits for a number. */
export async function createCodec(registry: SchemaRegistry): Promise<Codec> {
  const types = new Map<Topic, Type>();
  const ids = new Map<Topic, number>();
  /** By topic and number; what today’s schema wrote is read as it is. */
  const resolvers = new Map<string, Resolver | undefined>();
  const writers = new Map<string, string>();
  let scratch = Buffer.allocUnsafe(64 * 1024);

  for (const topic of allTopics) {
    const schema = selfContained(recordNames[topic]);
    const type = typeOf(schema, withSharedSteps);
    const id = await registry.register(subjectOf(topic), JSON.stringify(schema));
    types.set(topic, type);
    ids.set(topic, id);
    resolvers.set(`${topic}/${id}`, undefined);
  }

  const typeFor = (topic: Topic): Type => types.get(topic) as Type;

  async function learn(topic: Topic, id: number): Promise<Resolver> {
    const text = await registry.find(id);
    if (text === undefined) throw undecodable(topic, `names schema ${id}, which the registry does not know`);
    let resolver: Resolver;
    try {
      resolver = typeFor(topic).createResolver(typeOf(JSON.parse(text) as AvroType));
    } catch (error) {
      throw undecodable(topic, `was written with schema ${id}, which this topic’s record cannot be read from`, error);
    }
    resolvers.set(`${topic}/${id}`, resolver);
    writers.set(`${topic}/${id}`, text);
    return resolver;
  }

  function readAvro<T extends Topic>(topic: T, payload: Buffer, at: number, resolver?: Resolver): RecordOf<T> {
    let decoded: { value: unknown; offset: number };
    try {
      decoded = typeFor(topic).decode(payload, at, resolver) as { value: unknown; offset: number };
    } catch (error) {
      throw undecodable(topic, 'is not Avro of the schema that it names', error);
    }
    if (decoded.offset !== payload.length) throw undecodable(topic, 'is cut short or has bytes left over');
    return decoded.value as RecordOf<T>;
  }

  return {
    encode(topic, record) {
      const type = typeFor(topic);
      let end = type.encode(record, scratch, headerBytes);
      if (end < 0) {
        scratch = Buffer.allocUnsafe(2 * (scratch.length - end));
        end = type.encode(record, scratch, headerBytes);
      }
      scratch[0] = 0;
      scratch.writeInt32BE(ids.get(topic) as number, 1);
      return Buffer.from(scratch.subarray(0, end));
    },
    decode(topic, bytes) {
      const payload = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (payload[0] === 0x7b) return readJson(topic, payload);
      if (payload[0] !== 0 || payload.length < headerBytes) {
        throw undecodable(topic, 'is neither Avro in Confluent’s wire format nor JSON');
      }
      const id = payload.readInt32BE(1);
      const writer = `${topic}/${id}`;
      if (resolvers.has(writer)) return readAvro(topic, payload, headerBytes, resolvers.get(writer));
      return learn(topic, id).then((learned) => readAvro(topic, payload, headerBytes, learned));
    },
    avro(topic, bytes) {
      const payload = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const ours = payload[0] === 0 && payload.length >= headerBytes && payload.readInt32BE(1) === ids.get(topic);
      return ours ? payload.subarray(headerBytes) : null;
    },
    writer(topic, bytes) {
      const payload = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (payload[0] !== 0 || payload.length < headerBytes) return null;
      return writers.get(`${topic}/${payload.readInt32BE(1)}`) ?? null;
    },
    fromAvro: (topic, avro) => readAvro(topic, avro, 0),
  };
}

/** The types that records are measured with; compiling one takes a hundred times as long as measuring a record. */
const measures = new Map<Topic, Type>();
const noRoom = Buffer.alloc(0);

/** How many bytes the record's payload has, whatever number its schema has. */
export function payloadBytes<T extends Topic>(topic: T, record: RecordOf<T>): number {
  let type = measures.get(topic);
  if (type === undefined) measures.set(topic, (type = typeOf(selfContained(recordNames[topic]), withSharedSteps)));
  // Where there is no room at all, avsc says how much is lacking.
  return headerBytes - type.encode(record, noRoom);
}

/** The avsc type of a schema, with the field names the process uses. */
export function typeOf(schema: AvroType, more: typeof withSharedSteps = () => undefined): Type {
  const typeHook = (part: Schema, options: ForSchemaOptions) =>
    withWellFormedText(part, options) ?? more(part, options) ?? withFrozenLists(part, options);
  return avsc.Type.forSchema(inProcess(schema) as Schema, { registry: {}, typeHook });
}

function readJson<T extends Topic>(topic: T, payload: Buffer): RecordOf<T> {
  try {
    return recordFromJson(recordNames[topic], JSON.parse(payload.toString('utf8'))) as RecordOf<T>;
  } catch (error) {
    if (error instanceof ShapeError)
      throw undecodable(topic, `does not have the topic’s shape: ${error.message.replace(/\.$/, '')}`);
    throw undecodable(topic, 'begins like JSON, but is not JSON', error);
  }
}

function undecodable(topic: Topic, what: string, cause?: unknown): Fault {
  return new Fault('undecodable', `The record on ${topic} ${what}.`, false, { cause });
}
