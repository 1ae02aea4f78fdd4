import type { Encoded } from '../../processing/outputs.js';
import { crc32c } from './crc32c.js';

/** Who writes: a batch with the same identity and sequence is taken once, however often it is sent. */
export interface ProducerIdentity {
  readonly producerId: bigint;
  readonly epoch: number;
}

interface BatchOptions extends ProducerIdentity {
  /** Of the first record, among all that this identity has sent to the partition. */
  readonly sequence: number;
  readonly transactional: boolean;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

const magic = 2;
const transactionalBit = 0x10;
/** Of a batch without its records, bytes. */
const headBytes = 61;
/** What the length field and all before it take. */
const lengthEnd = 12;
const crcAt = 17;
const checkedFrom = 21;

/**
 * A record batch of Kafka’s message format 2, uncompressed. Its size is known before it is written, so each record is
 * copied once; kafkajs writes it through buffers within buffers that grow as they are filled.
 */
export function encodeBatch(
  records: readonly Encoded[],
  { producerId, epoch, sequence, transactional, timestamp }: BatchOptions,
): Buffer {
  const sized = records.map(measured);
  const size = sized.reduce((sum, { whole }) => sum + whole, headBytes);
  const batch = Buffer.allocUnsafe(size);
  batch.writeBigInt64BE(0n, 0); // the base offset, which the broker assigns
  batch.writeInt32BE(size - lengthEnd, 8);
  batch.writeInt32BE(0, 12); // the leader’s epoch, likewise
  batch.writeInt8(magic, 16);
  batch.writeInt16BE(transactional ? transactionalBit : 0, 21);
  batch.writeInt32BE(records.length - 1, 23);
  batch.writeBigInt64BE(BigInt(timestamp), 27);
  batch.writeBigInt64BE(BigInt(timestamp), 35);
  batch.writeBigInt64BE(producerId, 43);
  batch.writeInt16BE(epoch, 51);
  batch.writeInt32BE(sequence, 53);
  batch.writeInt32BE(records.length, 57);
  let at = headBytes;
  for (const record of sized) at = writeRecord(batch, at, record);
  batch.writeUInt32BE(crc32c(batch.subarray(checkedFrom)), crcAt);
  return batch;
}

/** A record and its place in the batch. */
interface Measured {
  readonly record: Encoded;
  readonly delta: number;
  readonly headers: readonly (readonly [name: string, text: string])[];
  /** Bytes without the length before it, and with it. */
  readonly body: number;
  readonly whole: number;
}

function measured(record: Encoded, delta: number): Measured {
  const headers = Object.entries(record.headers);
  // Attributes and the difference to the batch’s time are a byte each.
  let body = 2 + varintBytes(delta);
  body += fieldBytes(Buffer.byteLength(record.key)) + fieldBytes(record.value.byteLength) + varintBytes(headers.length);
  for (const [name, text] of headers) body += fieldBytes(Buffer.byteLength(name)) + fieldBytes(Buffer.byteLength(text));
  return { record, delta, headers, body, whole: varintBytes(body) + body };
}

function writeRecord(batch: Buffer, from: number, { record, delta, headers, body }: Measured): number {
  const { key, value } = record;
  let at = writeVarint(batch, from, body);
  batch[at++] = 0;
  batch[at++] = 0;
  at = writeVarint(batch, at, delta);
  at = writeText(batch, at, key);
  at = writeVarint(batch, at, value.byteLength);
  batch.set(value, at);
  at = writeVarint(batch, at + value.byteLength, headers.length);
  for (const [name, text] of headers) at = writeText(batch, writeText(batch, at, name), text);
  return at;
}

function writeText(batch: Buffer, from: number, text: string): number {
  const bytes = Buffer.byteLength(text);
  const at = writeVarint(batch, from, bytes);
  return at + batch.write(text, at, bytes, 'utf8');
}

function fieldBytes(length: number): number {
  return varintBytes(length) + length;
}

/** Lengths are written as signed numbers, so with one bit more: 0, −1, 1, −2 … become 0, 1, 2, 3 … */
function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = (value << 1) >>> 7; rest !== 0; rest >>>= 7) bytes++;
  return bytes;
}

function writeVarint(batch: Buffer, from: number, value: number): number {
  let at = from;
  let rest = value << 1;
  for (; rest > 0x7f; rest >>>= 7) batch[at++] = (rest & 0x7f) | 0x80;
  batch[at++] = rest;
  return at;
}
