import { randomBytes } from 'node:crypto';
import kafkajs, { CompressionTypes } from 'kafkajs';
import { gzip, lz4, snappy, zstd } from './decompress.js';
import type { Decompress } from './decompress.js';
import { once } from './once.js';

// Node finds this name in no CommonJS module’s exports by itself.
const { CompressionCodecs } = kafkajs;

/** By a codec’s number in a batch’s attributes. The protocol has given five to seven to none. */
const codecs: readonly (readonly [name: string, decompress: Decompress])[] = [
  ['none', (records) => Promise.resolve(records)],
  ['gzip', gzip],
  ['snappy', snappy],
  ['lz4', lz4],
  ['zstd', zstd],
  ...[5, 6, 7].map((number) => [`number ${number}`, unknown] as const),
];

function unknown(): Promise<never> {
  return Promise.reject(new TypeError('Kafka’s protocol has no such compression'));
}

/**
 * kafkajs 2.2.4 reads no compression but gzip, and an error of a codec ends the consumer: one record of a producer
 * that compresses otherwise would stop everybody’s runs, again after each start. Here all are read. A batch that
 * cannot be comes as records without content that say why (`unreadable`), each at its offset: they become dead
 * letters, and the partition goes on.
 */
export const readCompressed = once(() => {
  const known = CompressionCodecs as unknown as Record<number, () => { readonly compress: unknown }>;
  const { compress } = CompressionCodecs[CompressionTypes.GZIP]() as { readonly compress: unknown };
  for (const [number, [name, decompress]] of codecs.entries()) {
    if (number === 0) continue;
    const codec = {
      compress: number === (CompressionTypes.GZIP as number) ? compress : notHere,
      decompress: (records: Buffer) => orUnreadable(name, decompress, records),
    };
    known[number] = () => codec;
  }
});

/** The bus writes its batches itself, uncompressed; the broker compresses them where a topic says so. */
function notHere(): Promise<never> {
  return Promise.reject(new TypeError('Nothing is compressed here. Leave the compression to the topic.'));
}

/** A header that no producer can write, since none knows it: with it comes why the record cannot be read. */
const unreadableHeader = `sluice-unreadable-${randomBytes(12).toString('hex')}`;

/** Why the record cannot be read, for one that stands in place of a record of a batch that could not be. */
export function unreadable(headers: Readonly<Record<string, string>>): string | undefined {
  return headers[unreadableHeader];
}

async function orUnreadable(name: string, decompress: Decompress, compressed: Buffer): Promise<Buffer> {
  const head = headOf(compressed);
  try {
    const records = await decompress(compressed);
    requireRecords(records, head?.count ?? 0);
    return records;
  } catch (error) {
    if (head === undefined) throw error;
    const why = error instanceof Error ? error.message : String(error);
    const { base, count, past } = head;
    const which = `The ${count === 1 ? 'record' : `${count} records`} from offset ${base} to ${base + past}`;
    const reason = `${which} came as one batch, compressed with ${name}, which cannot be read: ${why}.`;
    return Buffer.concat(Array.from({ length: count }, (_, n) => standIn(n === count - 1 ? past : n, reason)));
  }
}

/** Of a batch without its records, bytes; its magic number, and the counts in it. */
const headBytes = 61;
const magic = 2;

interface Head {
  readonly base: number;
  readonly count: number;
  /** Of the last record, after the first. */
  readonly past: number;
}

/**
 * What stands before the records: kafkajs gives a codec a part of what the broker sent, and not what it is a part of.
 */
function headOf(compressed: Buffer): Head | undefined {
  const { buffer, byteOffset } = compressed;
  if (byteOffset < headBytes) return undefined;
  const head = Buffer.from(buffer, byteOffset - headBytes, headBytes);
  const [past, count] = [head.readInt32BE(23), head.readInt32BE(57)];
  const isHead = head.readInt8(16) === magic && head.readInt32BE(8) === headBytes - 12 + compressed.length;
  if (!isHead || count < 1 || count > past + 1) return undefined;
  return { base: Number(head.readBigInt64BE(0)), count, past };
}

/** Throws where the bytes are not so many records, which kafkajs would find only after it has given out some. */
function requireRecords(records: Buffer, count: number): void {
  let at = 0;
  for (let n = 0; n < count; n++) {
    const [length, next] = varint(records, at);
    if (length < 0 || next + length > records.length) throw new RangeError(`record ${n + 1} of it is cut short`);
    at = next + length;
  }
}

function varint(bytes: Buffer, from: number): readonly [value: number, next: number] {
  let value = 0;
  for (let at = from, shift = 0; at < bytes.length && shift <= 28; at++, shift += 7) {
    const byte = bytes[at] as number;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return [(value >>> 1) ^ -(value & 1), at + 1];
  }
  throw new RangeError('a number in it is cut short');
}

/** A record of format 2 without key and value. */
function standIn(offsetDelta: number, reason: string): Buffer {
  const [name, text] = [Buffer.from(unreadableHeader), Buffer.from(reason)];
  const header = [signed(name.length), name, signed(text.length), text];
  // Attributes and the difference to the batch’s time are a byte each.
  const body = Buffer.concat([Buffer.alloc(2), signed(offsetDelta), signed(-1), signed(-1), signed(1), ...header]);
  return Buffer.concat([signed(body.length), body]);
}

function signed(value: number): Buffer {
  const bytes: number[] = [];
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
