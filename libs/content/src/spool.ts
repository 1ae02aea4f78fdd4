import { randomBytes } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a spool holds in memory at most. */
const inMemory = 1_048_576;
const pieceBytes = 262_144;

/**
 * Bytes of a length that is not known yet: in memory, and beyond that in a file that goes with it. A place that is
 * reached over the network is used only when all of them are there, so that a slow source holds nothing of it.
 */
export class Spool {
  length = 0;
  private pieces: Uint8Array[] = [];
  private file: { readonly path: string; readonly handle: FileHandle } | undefined;

  async append(bytes: Uint8Array): Promise<void> {
    this.length += bytes.length;
    this.pieces.push(bytes);
    if (this.file === undefined && this.length <= inMemory) return;
    this.file ??= await temporary();
    for (const piece of this.pieces.splice(0)) await this.file.handle.appendFile(piece);
  }

  /** All of it; in pieces where it is long. */
  body(): Buffer | AsyncIterable<Uint8Array> {
    return this.file === undefined ? Buffer.concat(this.pieces) : piecesIn(this.file.handle);
  }

  async close(): Promise<void> {
    this.pieces = [];
    const { file } = this;
    if (file === undefined) return;
    this.file = undefined;
    await rm(file.path, { force: true });
    await file.handle.close();
  }
}

async function temporary(): Promise<{ readonly path: string; readonly handle: FileHandle }> {
  const path = join(tmpdir(), `sluice-content-${process.pid}-${randomBytes(8).toString('hex')}`);
  return { path, handle: await open(path, 'wx+', 0o600) };
}

async function* piecesIn(handle: FileHandle): AsyncGenerator<Uint8Array, void, undefined> {
  for (let position = 0; ;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
