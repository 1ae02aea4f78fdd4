import { crc32 } from 'node:zlib';
import { decodeStream, type DecodedTurn, type WireName } from '@sluice/wires';

/** Reads a stream that arrives in these pieces. */
export function readPieces(wire: WireName, pieces: Iterable<Uint8Array>): DecodedTurn {
  const decoder = decodeStream(wire);
  for (const piece of pieces) decoder.push(piece);
  return decoder.end();
}

/** The bytes cut at these places, in any order. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [...new Set(places.filter((place) => place > 0 && place < bytes.length))].sort((a, b) => a - b);
  return [...sorted, bytes.length].map((place, index) => bytes.subarray(sorted[index - 1] ?? 0, place));
}

/**
 * A message of Amazon’s event stream, written by its description alone: lengths, checksum, headers, payload,
 * checksum.
 */
export function awsMessage(type: string, payload: string, kind: 'event' | 'exception' = 'event'): Buffer {
  const headers = Buffer.concat([
    header(`:${kind}-type`, type),
    header(':content-type', 'application/json'),
    header(':message-type', kind),
  ]);
  const body = Buffer.from(payload);
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(12 + headers.length + body.length + 4, 0);
  lengths.writeUInt32BE(headers.length, 4);
  const head = Buffer.concat([lengths, checksum(lengths), headers, body]);
  return Buffer.concat([head, checksum(head)]);
}

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([
    Buffer.from([Buffer.byteLength(name)]),
    Buffer.from(name),
    Buffer.from([7]),
    length,
    Buffer.from(value),
  ]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
