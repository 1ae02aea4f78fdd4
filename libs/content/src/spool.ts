import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a spool holds in memory at most. */
const inMemory = 1_048_576;

/** Bytes of a length that is not known yet: in memory, and beyond that in a file that goes with it. */
export class Spool {
  length = 0;
  private pieces: Uint8Array[] = [];
  private file: { readonly path: string; readonly handle: FileHandle } | undefined;

  async append(bytes: Uint8Array): Promise<void> {
    this.length += bytes.length;
    this.pieces.push(bytes);
    if (this.file === undefined && this.length <= inMemory) return;
    this.file ??= await temporary();
    await this.file.handle.writev(this.pieces.splice(0));
  }

  /** All of it; as a stream where it is long. */
  body(): Buffer | AsyncIterable<Uint8Array> {
    return this.file === undefined ? Buffer.concat(this.pieces) : createReadStream(this.file.path);
  }

  async close(): Promise<void> {
    this.pieces = [];
    if (this.file === undefined) return;
    await this.file.handle.close();
    await rm(this.file.path, { force: true });
    this.file = undefined;
  }
}

async function temporary(): Promise<{ readonly path: string; readonly handle: FileHandle }> {
  const path = join(tmpdir(), `sluice-content-${process.pid}-${randomBytes(8).toString('hex')}`);
  return { path, handle: await open(path, 'wx', 0o600) };
}
