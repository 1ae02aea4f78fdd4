import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import type { Dirent } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Hears how many more bytes are copied; throws to end the copy. */
export type OnBytes = (bytes: number) => void;

/** A file's bytes and their SHA-256, as they were copied. */
export interface Copied {
  readonly bytes: number;
  readonly sha256: string;
}

/** Paths of all files below the folder, with forward slashes. Links and devices are none. */
export async function filesBelow(folder: string, isLeftOut: (path: string) => boolean): Promise<readonly string[]> {
  const found: string[] = [];
  const visit = async (below: string): Promise<void> => {
    const entries = await entriesOf(join(folder, below), below === '');
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (isLeftOut(path)) continue;
      if (entry.isDirectory()) await visit(path);
      else if (entry.isFile()) found.push(path);
    }
  };
  await visit('');
  return found;
}

/** A folder below may be gone meanwhile, as a session's may be. */
async function entriesOf(folder: string, isRoot: boolean): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isRoot || !isCode(error, 'ENOENT')) throw error;
    return [];
  }
}

/** Its bytes; 0 where it is gone meanwhile. */
export async function sizeOf(file: string): Promise<number> {
  try {
    return (await lstat(file)).size;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return 0;
    throw error;
  }
}

/** The file may be gone meanwhile, as a session's may be: then null. */
export async function modeOf(file: string): Promise<number | null> {
  try {
    return (await lstat(file)).mode & 0o777;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Copies to a new file with this mode, and puts it on the disk. A link is not followed. */
export async function copyFile(from: string, to: string, mode: number, onBytes: OnBytes): Promise<Copied> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const hash = createHash('sha256');
  let bytes = 0;
  const target = await open(to, 'wx', 0o600);
  try {
    const source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW);
    for await (const piece of source.createReadStream()) {
      const chunk = piece as Buffer;
      onBytes(chunk.length);
      hash.update(chunk);
      bytes += chunk.length;
      await target.appendFile(chunk);
    }
    await target.sync();
  } finally {
    await target.close();
  }
  await chmod(to, mode);
  return { bytes, sha256: hash.digest('hex') };
}

export async function digestOf(file: string): Promise<Copied> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(file)) {
    hash.update(piece as Buffer);
    bytes += (piece as Buffer).length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Puts what was written to a file, or the names in a folder, on the disk. */
export async function syncOf(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Some systems cannot do so for folders.
    if (!isCode(error, 'EINVAL') && !isCode(error, 'EPERM')) throw error;
  } finally {
    await handle.close();
  }
}

/** Throws a sentence about `name` where the disk of the folder has less room than this. */
export async function requireRoom(folder: string, bytes: number, name: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free < bytes)
    throw new Error(
      `The disk of ${name} is too full: it has room for ${sizeText(free)}, and ${sizeText(bytes)} are to be written.`,
    );
}

export function sizeText(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1_000).toLocaleString('en-US')} KB`;
  return `${(bytes / 1_000_000).toLocaleString('en-US', { maximumFractionDigits: 1 })} MB`;
}

export function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === code;
}
