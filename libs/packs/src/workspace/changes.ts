import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolUserError } from '@sluice/core';
import { shown } from './confined.js';
import type { Confined, PathEntry } from './confined.js';
import { usageOf } from './contents.js';
import { workspaceLimits } from '@sluice/tools';

/** A session’s folder: its files are in `files`, what is being written is beside them. */
export interface Home {
  readonly path: string;
  readonly files: Confined;
}

/** Refuses what would not fit: a file of `size` bytes at `place`. Throws ToolUserError. */
export async function requireRoom(home: Home, names: readonly string[], place: PathEntry, size: number): Promise<void> {
  const { fileBytes, totalBytes, entries } = workspaceLimits;
  if (size > fileBytes) {
    throw new ToolUserError(`A file may have ${fileBytes} bytes, and ${shown(names)} would have ${size}. Use several.`);
  }
  const used = await usageOf(join(home.path, 'files'));
  if (used.bytes - (place.stats?.size ?? 0) + size > totalBytes) {
    throw new ToolUserError(`The workspace may hold ${totalBytes} bytes and is full. Delete what is not needed.`);
  }
  if (used.files + used.directories + (await newEntries(home.files, names)) > entries) {
    throw new ToolUserError(`The workspace may hold ${entries} files and directories. Delete what is not needed.`);
  }
}

/** How many files and directories are made by making this file. */
async function newEntries(files: Confined, names: readonly string[]): Promise<number> {
  for (let known = names.length; known > 0; known--) {
    if ((await files.at(names.slice(0, known))).stats !== null) return names.length - known;
  }
  return names.length;
}

/** The whole new file or the old one, whatever happens meanwhile. */
export async function replace(home: Home, path: string, text: string): Promise<void> {
  const fresh = join(home.path, `writing-${randomUUID()}`);
  await mkdir(home.path, { recursive: true });
  try {
    await writeFile(fresh, text, { flag: 'wx', flush: true });
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

/** All of it at the end of the file, or nothing of it. */
export async function addTo(handle: FileHandle, bytes: Buffer): Promise<void> {
  const { size } = await handle.stat();
  try {
    await handle.appendFile(bytes);
    await handle.sync();
  } catch (error) {
    await handle.truncate(size);
    throw error;
  }
}

/** Throws ToolUserError if something is in it. */
export async function removeEmpty(path: string, names: readonly string[]): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new ToolUserError(`The directory ${shown(names)} is not empty. Delete what is in it first.`);
  }
}
