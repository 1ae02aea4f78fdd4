import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { ToolUserError } from '@sluice/core';
import { shown } from './confined.js';
import type { FilePart } from '@sluice/tools';

/** At most `limit` bytes of an open file as text, whole characters only. Throws ToolUserError if it is no text. */
export async function partOf(
  handle: FileHandle,
  names: readonly string[],
  wanted: number,
  limit: number,
): Promise<FilePart> {
  const { size } = await handle.stat();
  if (wanted > size) throw new ToolUserError(`${shown(names)} has ${size} bytes. Give an offset from 0 to ${size}.`);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(limit), 0, limit, wanted);
  const begin = firstCharacter(buffer.subarray(0, bytesRead));
  const end = wanted + bytesRead < size ? lastWhole(buffer.subarray(0, bytesRead)) : bytesRead;
  const text = decode(buffer.subarray(begin, end));
  if (text === null) throw new ToolUserError(`${shown(names)} is not text in UTF-8, so it cannot be read.`);
  return { text, offset: wanted + begin, size, nextOffset: wanted + end < size ? wanted + end : null };
}

/** How many bytes at the beginning belong to a character that began before. */
export function firstCharacter(bytes: Buffer): number {
  const at = bytes.subarray(0, 3).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return at < 0 ? Math.min(3, bytes.length) : at;
}

/** How many bytes hold whole characters only. */
export function lastWhole(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** The bytes as text, its byte order mark included; null if they are no UTF-8. */
export function decode(bytes: Buffer): string | null {
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}
