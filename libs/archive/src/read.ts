import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { createZstdDecompress } from 'node:zlib';
import { createCodec } from '@sluice/contracts';
import type { Codec, Topic } from '@sluice/contracts';
import { Fault } from '@sluice/core';
import type { Incoming, LogReader, ReadFrom, ReadOptions } from '@sluice/bus';
import { Frames } from './frames.js';
import { FileSchemas, formatVersion, readEntry, readTrailer, trailerAround, trailerLength } from './format.js';
import type { Entry, Header, Trailer } from './format.js';

/** An export as a log that is complete. */
export interface Archive extends LogReader {
  readonly header: Header;
  readonly trailer: Trailer;
}

/**
 * Opens an export whose every byte is as it was written; rejects with a sentence that says what is wrong with it
 * otherwise. Records of earlier schemas are read with the schemas in the file, as on a log.
 */
export async function openArchive(file: string): Promise<Archive> {
  const trailer = await readEnd(file);
  const digest = await sha256Of(file, trailer.bytes);
  if (digest !== trailer.sha256) {
    const found = `its bytes give the SHA-256 ${digest}, and its trailer says ${trailer.sha256}`;
    throw new Error(`The export ${file} was changed: ${found}. Take another copy of it.`);
  }
  const header = await readHeader(file, trailer);
  const codec = await createCodec(new FileSchemas(header.schemas));
  return {
    header,
    trailer,
    // Only records of the topics asked for come out of it; the compiler cannot follow that through the codec.
    read: <T extends Topic>(topics: readonly T[], options: ReadOptions) =>
      records(file, trailer, header, codec, topics, options) as AsyncIterable<Incoming<T>>,
  };
}

async function readEnd(file: string): Promise<Trailer> {
  let size: number;
  try {
    const there = await stat(file);
    if (!there.isFile()) throw new Error('it is no file');
    ({ size } = there);
  } catch (error) {
    throw new Error(`The export ${file} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
  const short = `The export ${file} is cut short, or is none: it has no trailer at its end. Take another copy of it.`;
  if (size <= trailerAround) throw new Error(short);
  const handle = await open(file);
  try {
    const at = async (position: number, length: number): Promise<Buffer> =>
      (await handle.read(Buffer.alloc(length), 0, length, position)).buffer;
    const length = trailerLength(await at(size - 4, 4), size);
    if (length === null) throw new Error(short);
    const whole = length + trailerAround;
    const trailer = readTrailer(await at(size - whole, whole));
    if (trailer === undefined || trailer.bytes !== size - whole) throw new Error(short);
    return trailer;
  } finally {
    await handle.close();
  }
}

async function sha256Of(file: string, bytes: number): Promise<string> {
  const hash = createHash('sha256');
  if (bytes > 0)
    for await (const piece of createReadStream(file, { end: bytes - 1, highWaterMark: pieceBytes }))
      hash.update(piece as Buffer);
  return hash.digest('hex');
}

const pieceBytes = 1024 * 1024;

async function* frames(file: string, { bytes }: Trailer): AsyncGenerator<Frames, void, undefined> {
  const source = createReadStream(file, { end: bytes - 1, highWaterMark: pieceBytes });
  const plain = source.pipe(createZstdDecompress({ chunkSize: pieceBytes }));
  source.once('error', (error) => plain.destroy(error));
  const held = new Frames();
  try {
    for await (const piece of plain) {
      held.add(piece as Buffer);
      yield held;
    }
  } finally {
    source.destroy();
    plain.destroy();
  }
}

async function readHeader(file: string, trailer: Trailer): Promise<Header> {
  for await (const held of frames(file, trailer)) {
    const line = held.line();
    if (line === undefined) continue;
    const header = JSON.parse(line) as Header;
    if (header.format === formatVersion) return header;
    throw new Error(
      `The export ${file} has the format ${header.format}, and this version of Sluice reads ${formatVersion}.`,
    );
  }
  throw new Error(`The export ${file} has no header, so it is none.`);
}

async function* records(
  file: string,
  trailer: Trailer,
  { topics: names }: Header,
  codec: Codec,
  topics: readonly Topic[],
  { from, signal, onUndecodable }: ReadOptions,
): AsyncGenerator<Incoming, void, undefined> {
  if (from === 'end') return;
  const wanted = new Set(topics);
  let begun = false;
  for await (const held of frames(file, trailer)) {
    if (!begun) {
      if (held.line() === undefined) continue;
      begun = true;
    }
    for (let bytes = held.next(); bytes !== undefined; bytes = held.next()) {
      if (signal?.aborted === true) return;
      const entry = readEntry(bytes);
      const topic = names[entry.topic] as Topic;
      if (!wanted.has(topic) || !isFrom(from, topic, entry)) continue;
      const { partition, offset, key, headers, timestamp, value } = entry;
      try {
        const decoded = codec.decode(topic, value);
        const record = decoded instanceof Promise ? await decoded : decoded;
        const avro = codec.avro(topic, value);
        const writer = codec.writer(topic, value);
        yield { topic, partition, offset, key, record, headers, timestamp, avro, writer } as Incoming;
      } catch (error) {
        if (!(error instanceof Fault) || onUndecodable === undefined) throw error;
        onUndecodable({ topic, partition, offset }, error.message);
      }
    }
  }
}

function isFrom(from: ReadFrom, topic: Topic, { partition, offset, timestamp }: Entry): boolean {
  if (typeof from === 'string') return true;
  if ('time' in from) return timestamp >= from.time;
  if ('after' in from) return offset > (from.after(topic, partition) ?? -1);
  return offset >= from.offset && (from.partition === undefined || from.partition === partition);
}
