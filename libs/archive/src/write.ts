import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { lstat, open, readlink, realpath, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { createZstdCompress } from 'node:zlib';
import { allTopics, createCodec } from '@sluice/contracts';
import { withoutCredentials } from '@sluice/bus';
import type { Incoming } from '@sluice/bus';
import { entryBytes, FileSchemas, formatVersion, trailerFrame } from './format.js';
import type { Header, Selection, Trailer } from './format.js';

/** Where the bytes of an export go: it resolves when they are taken, and throws if they cannot be. */
interface ByteSink {
  appendFile(bytes: Uint8Array): Promise<void>;
}

export interface Exported {
  readonly selection: Selection;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly records: AsyncIterable<Incoming>;
  /** How many records could not be decoded; asked when the others are written. */
  readonly undecodable: () => number;
}

/**
 * Writes the records to a new file, compressed, with today’s schemas in it and without credentials. A record is held
 * no longer than it takes to write it. The file has its name only when it is whole: until then it stands beside it
 * under another one. A link is followed. Throws a sentence if the file cannot be written, or if what has its name is
 * no file, such as a device.
 */
export async function writeArchive(file: string, exported: Exported): Promise<Trailer> {
  let beside: string | undefined;
  let handle: FileHandle | undefined;
  try {
    const target = await regularFile(file);
    // A process’s number is no name: every container may have the same, and one that was killed leaves its part there.
    beside = `${target}.${randomBytes(4).toString('hex')}.part`;
    handle = await open(beside, 'wx', 0o600);
    const trailer = await streamArchive(handle, exported);
    await handle.sync();
    await handle.close();
    await rename(beside, target);
    return trailer;
  } catch (error) {
    await handle?.close().catch(() => undefined);
    if (beside !== undefined) await rm(beside, { force: true });
    if (typeof (error as NodeJS.ErrnoException).syscall !== 'string') throw error;
    throw new Error(`The export ${file} cannot be written: ${(error as Error).message}.${hintFor(error)}`, {
      cause: error,
    });
  }
}

/** In a container nothing but the volumes may be written to. */
function hintFor(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'EROFS' && code !== 'EACCES' && code !== 'EPERM') return '';
  return ' Name a file in a folder that may be written to, or - for standard output.';
}

/** Where the file is to be, behind any links: it takes the place of a former one, and of nothing else. */
async function regularFile(file: string): Promise<string> {
  const there = await lstat(file).catch(unlessNone);
  if (there === null || there.isFile()) return file;
  if (!there.isSymbolicLink())
    throw new Error(`The export ${file} cannot be written: what has this name is no regular file. Name another.`);
  // A link to what is not there yet has no real path, so it is gone after by itself.
  const behind = await realpath(file).catch(unlessNone);
  return regularFile(behind ?? resolve(await realpath(dirname(file)), await readlink(file)));
}

function unlessNone(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  throw error;
}

/**
 * Writes the same bytes to a stream, as fast as it takes them. If it throws, what was written lacks its trailer, and
 * no reader accepts it.
 */
export async function streamArchive(sink: ByteSink, exported: Exported): Promise<Trailer> {
  const schemas = new FileSchemas();
  const codec = await createCodec(schemas);
  const { selection, createdAt } = exported;
  const header: Header = { format: formatVersion, createdAt, selection, topics: allTopics, schemas: schemas.all() };
  const output = new Output(sink);
  const records: Record<string, number> = {};

  await output.add(Buffer.from(`${JSON.stringify(header)}\n`));
  for await (const { topic, partition, offset, timestamp, key, headers, record } of exported.records) {
    const value = codec.encode(topic, record);
    const place = { topic: allTopics.indexOf(topic), partition, offset, timestamp, key };
    await output.add(lengthAndBytes(entryBytes({ ...place, headers: withoutCredentials(headers), value })));
    records[topic] = (records[topic] ?? 0) + 1;
  }
  const { bytes, sha256 } = await output.end();
  const trailer = { records, undecodable: exported.undecodable(), bytes, sha256 };
  await sink.appendFile(trailerFrame(trailer));
  return trailer;
}

function lengthAndBytes(entry: Buffer): Buffer {
  const whole = Buffer.allocUnsafe(4 + entry.length);
  whole.writeUInt32BE(entry.length, 0);
  entry.copy(whole, 4);
  return whole;
}

/** What is added is compressed, hashed and written, and the caller waits where that is slower. */
class Output {
  private readonly zstd = createZstdCompress();
  private readonly hash = createHash('sha256');
  private readonly written: Promise<void>;
  private bytes = 0;

  constructor(sink: ByteSink) {
    this.written = this.drain(sink);
    // The next call that adds or ends throws it.
    this.written.catch(() => undefined);
  }

  async add(piece: Buffer): Promise<void> {
    if (this.zstd.write(piece)) return;
    await Promise.race([once(this.zstd, 'drain'), this.written]);
  }

  async end(): Promise<{ readonly bytes: number; readonly sha256: string }> {
    this.zstd.end();
    await this.written;
    return { bytes: this.bytes, sha256: this.hash.digest('hex') };
  }

  private async drain(sink: ByteSink): Promise<void> {
    for await (const piece of this.zstd as AsyncIterable<Buffer>) {
      this.hash.update(piece);
      this.bytes += piece.length;
      // It writes all or throws; `write` may write less where the disk is nearly full, and say nothing.
      await sink.appendFile(piece);
    }
  }
}
