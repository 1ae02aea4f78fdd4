import { promisify } from 'node:util';
import { gunzip, zstdDecompress } from 'node:zlib';

/**
 * What a batch may hold once it is decompressed, bytes. A broker takes a megabyte; JSON shrinks to a tenth, nonsense
 * to a thousandth.
 */
export const largestBatch = 64 * 1024 * 1024;

const gunzipped = promisify(gunzip);
const unzstd = promisify(zstdDecompress);

/**
 * What one batch’s records are without their compression. Rejects where they cannot be read, or would take more than
 * `largestBatch`.
 */
export type Decompress = (compressed: Buffer) => Promise<Buffer>;

export const gzip: Decompress = (compressed) => gunzipped(compressed, { maxOutputLength: largestBatch });

export const zstd: Decompress = (compressed) => unzstd(compressed, { maxOutputLength: largestBatch });

/** A frame of blocks; the library reads them all at once, so it is looked first how much they can hold. */
export const lz4: Decompress = async (compressed) => {
  requireSize(lz4Holds(compressed));
  const { decompressFrame } = await import('lz4-napi');
  return decompressFrame(compressed);
};

/**
 * Bare, as most clients write it, or in the framing that the Java client has from the library xerial: blocks with
 * their lengths before them.
 */
export const snappy: Decompress = async (compressed) => {
  const blocks = isXerial(compressed) ? xerialBlocks(compressed) : [compressed];
  requireSize(blocks.reduce((sum, block) => sum + snappyHolds(block), 0));
  const { uncompress } = (await import('snappy')).default;
  return Buffer.concat(await Promise.all(blocks.map(async (block) => Buffer.from(await uncompress(block)))));
};

function requireSize(bytes: number): void {
  if (bytes > largestBatch) throw new RangeError(`it would take more than ${largestBatch} bytes once decompressed`);
}

const xerialMagic = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
/** The magic and two versions. */
const xerialHead = 16;

function isXerial(compressed: Buffer): boolean {
  return compressed.length >= xerialHead && compressed.subarray(0, xerialMagic.length).equals(xerialMagic);
}

function xerialBlocks(compressed: Buffer): readonly Buffer[] {
  const blocks: Buffer[] = [];
  for (let at = xerialHead; at < compressed.length;) {
    const size = compressed.readInt32BE(at);
    if (size < 0 || at + 4 + size > compressed.length) throw new RangeError('a block of it is cut short');
    blocks.push(compressed.subarray(at + 4, at + 4 + size));
    at += 4 + size;
  }
  return blocks;
}

/** A block begins with what it holds, seven bits a byte. */
function snappyHolds(block: Buffer): number {
  let bytes = 0;
  for (let at = 0; at < 5; at++) {
    const byte = block[at] ?? 0;
    bytes += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) break;
  }
  return bytes;
}

const lz4Magic = 0x184d2204;
/** By the number in the frame’s head. */
const lz4Blocks: Readonly<Record<number, number>> = { 4: 64 << 10, 5: 256 << 10, 6: 1 << 20, 7: 4 << 20 };

/** At most: so many blocks of the largest size that the frame allows, or what stands there as it is. */
function lz4Holds(frame: Buffer): number {
  if (frame.length < 7 || frame.readUInt32LE(0) !== lz4Magic) throw new TypeError('it is no frame of LZ4');
  const [flags, block] = [frame.readUInt8(4), frame.readUInt8(5)];
  const largest = lz4Blocks[(block >> 4) & 7] ?? Infinity;
  const checksum = (flags & 0x10) === 0 ? 0 : 4;
  let held = 0;
  // Magic, two bytes of flags, the checksum of the head; between them the size and the dictionary’s number, where
  // there are any.
  for (let at = 7 + ((flags & 0x08) === 0 ? 0 : 8) + ((flags & 0x01) === 0 ? 0 : 4); at + 4 <= frame.length;) {
    const size = frame.readUInt32LE(at);
    if (size === 0) break;
    const isPlain = size >= 2 ** 31;
    const bytes = isPlain ? size - 2 ** 31 : size;
    held += isPlain ? bytes : Math.min(largest, bytes * 255);
    at += 4 + bytes + checksum;
  }
  return held;
}
