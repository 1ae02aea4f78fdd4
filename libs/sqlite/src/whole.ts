import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** SQLite's header, and of each frame of the write-ahead log beside the file. */
const headerBytes = 100;
const journalHeaderBytes = 32;
const frameHeaderBytes = 24;

/**
 * How many bytes the file should have and has, if some are missing that the write-ahead log beside it does not hold
 * either; null for a file that is whole, empty, absent or none of SQLite's. It reads the header alone, so a large
 * file takes no longer.
 */
export function missingBytes(file: string): { readonly should: number; readonly has: number } | null {
  const before = sizeOf(`${file}-wal`);
  const header = headerOf(file);
  if (header === null) return null;
  const { pageBytes, pages } = header;
  const has = sizeOf(file);
  const should = pageBytes * pages;
  if (has >= should) return null;
  // A process that was killed while it took pages over from the log beside the file left the rest of them there.
  const journal = Math.max(before, sizeOf(`${file}-wal`)) - journalHeaderBytes;
  const held = Math.max(0, Math.floor(journal / (frameHeaderBytes + pageBytes)));
  return Math.ceil((should - has) / pageBytes) > held ? { should, has } : null;
}

/** Null where SQLite itself would not go by the count of pages in it. */
function headerOf(file: string): { readonly pageBytes: number; readonly pages: number } | null {
  const header = Buffer.alloc(headerBytes);
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    if (readSync(descriptor, header, 0, headerBytes, 0) < headerBytes) return null;
  } catch {
    // SQLite says better why it cannot be read.
    return null;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0') return null;
  if (header.readUInt32BE(24) !== header.readUInt32BE(92)) return null;
  const size = header.readUInt16BE(16);
  return { pageBytes: size === 1 ? 65_536 : size, pages: header.readUInt32BE(28) };
}

/** 0 for what is not there. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
