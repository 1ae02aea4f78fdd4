import avsc from 'avsc';
import type { SchemaRegistry, Topic } from '@sluice/contracts';

/**
 * The file: one zstd frame, then a skippable frame with the trailer, so that `zstd -dc` reads it as well. In the
 * frame stands a line of JSON, the header, then each record as an Avro entry with its length (4 bytes, big-endian)
 * before it.
 */
export const formatVersion = 1;

/**
 * What of a log was exported, as it was asked for; null for what was not narrowed. Times are in milliseconds since
 * the epoch.
 */
export interface Selection {
  readonly from: number | null;
  readonly to: number | null;
  readonly session: string | null;
  readonly tenant: string | null;
  readonly topics: readonly Topic[] | null;
}

export interface Header {
  readonly format: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly selection: Selection;
  /** The places of these names are the numbers in the entries. */
  readonly topics: readonly Topic[];
  /** The writer's schemas as JSON text, by the numbers that the payloads name. */
  readonly schemas: Readonly<Record<string, string>>;
}

export interface Trailer {
  /** Records by topic. */
  readonly records: Readonly<Record<string, number>>;
  /** Records that could not be decoded when the file was written, and so are not in it. */
  readonly undecodable: number;
  /** Bytes before the trailer, and SHA-256 over them, hexadecimal. */
  readonly bytes: number;
  readonly sha256: string;
}

export interface Entry {
  readonly topic: number;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The record as on a log: Confluent’s wire format, with a number of the header’s schemas. */
  readonly value: Buffer;
}

const valueType = avsc.Type.forSchema('bytes');
const headType = avsc.Type.forSchema({
  type: 'record',
  name: 'Head',
  fields: [
    { name: 'topic', type: 'int' },
    { name: 'partition', type: 'int' },
    { name: 'offset', type: 'long' },
    { name: 'timestamp', type: 'long' },
    { name: 'key', type: 'string' },
    { name: 'headers', type: { type: 'map', values: 'string' } },
  ],
});
const lengthType = avsc.Type.forSchema('long');

/** An entry is an Avro record of the fields above in their order. */
export function entryBytes(entry: Entry): Buffer {
  return Buffer.concat([headType.toBuffer(entry), valueType.toBuffer(entry.value)]);
}

/**
 * Throws if it is none. The value is a copy: a caller that keeps it must not keep the whole piece of the file that
 * the bytes are from.
 */
export function readEntry(bytes: Buffer): Entry {
  const head = headType.decode(bytes) as { value: Omit<Entry, 'value'>; offset: number };
  const { value: length, offset } = lengthType.decode(bytes, head.offset) as { value: number; offset: number };
  if (offset < 0 || offset + length !== bytes.length) throw new Error('The export has an entry that is none.');
  const { topic, partition, offset: at, timestamp, key, headers } = head.value;
  return { topic, partition, offset: at, timestamp, key, headers, value: Buffer.from(bytes.subarray(offset)) };
}

/** No entry is longer: a log’s records are a few megabytes at most. */
export const longestEntry = 64 * 1024 * 1024;

const skippable = 0x184d2a50;

/** The trailer as a skippable frame, its length once more at the very end, where a reader looks first. */
export function trailerFrame(trailer: Trailer): Buffer {
  const text = Buffer.from(JSON.stringify(trailer));
  const frame = Buffer.alloc(12 + text.length);
  frame.writeUInt32LE(skippable, 0);
  frame.writeUInt32LE(text.length + 4, 4);
  text.copy(frame, 8);
  frame.writeUInt32LE(text.length, 8 + text.length);
  return frame;
}

/** Bytes around the trailer’s text. */
export const trailerAround = 12;

/** The trailer’s text length, or null if these are not the bytes with which a trailer ends. */
export function trailerLength(lastFour: Buffer, fileBytes: number): number | null {
  const length = lastFour.readUInt32LE(0);
  return length > 0 && length <= 1024 * 1024 && length + trailerAround <= fileBytes ? length : null;
}

/** Undefined if it is no trailer. */
export function readTrailer(frame: Buffer): Trailer | undefined {
  if (frame.readUInt32LE(0) !== skippable || frame.readUInt32LE(4) !== frame.length - 8) return undefined;
  try {
    return JSON.parse(frame.toString('utf8', 8, frame.length - 4)) as Trailer;
  } catch {
    return undefined;
  }
}

/** Schema numbers of one file: those that it has already, and further ones for what is registered. */
export class FileSchemas implements SchemaRegistry {
  private readonly byNumber: Map<number, string>;

  constructor(known: Readonly<Record<string, string>> = {}) {
    this.byNumber = new Map(Object.entries(known).map(([number, schema]) => [Number(number), schema]));
  }

  register(_subject: string, schema: string): Promise<number> {
    for (const [number, text] of this.byNumber) if (text === schema) return Promise.resolve(number);
    const number = Math.max(0, ...this.byNumber.keys()) + 1;
    this.byNumber.set(number, schema);
    return Promise.resolve(number);
  }

  find(number: number): Promise<string | undefined> {
    return Promise.resolve(this.byNumber.get(number));
  }

  all(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.byNumber);
  }
}
