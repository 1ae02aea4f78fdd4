import { randomUUID } from 'node:crypto';
import { lstat, lutimes, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

const sessionFolder = /^[0-9a-f]{40}$/;
const forgotten = 'forgotten-';

/** Gives a session's folder the time of its last use, if it is there. */
export async function markUsed(path: string, now: number): Promise<void> {
  await unlessGone(lutimes(path, now / 1_000, now / 1_000));
}

/**
 * Removes the folders of sessions that were last used before then; any number of processes may do so at once. Returns
 * how many. What cannot be removed keeps no other from going, and is thrown in the end.
 */
export async function forgetIn(folder: string, before: number): Promise<number> {
  let count = 0;
  const failures: unknown[] = [];
  for (const name of (await unlessGone(readdir(folder))) ?? []) {
    try {
      if (name.startsWith(forgotten)) await removeAll(join(folder, name));
      else if (sessionFolder.test(name) && (await forgetOne(folder, name, before))) count++;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return count;
}

async function forgetOne(folder: string, name: string, before: number): Promise<boolean> {
  const path = join(folder, name);
  const stats = await unlessGone(lstat(path));
  if (stats === undefined || !stats.isDirectory() || stats.mtimeMs >= before) return false;
  // Out of the way first: a session that comes back meanwhile finds nothing, not a half.
  const away = join(folder, forgotten + randomUUID());
  if ((await unlessGone(rename(path, away).then(() => true))) === undefined) return false;
  await removeAll(away);
  return true;
}

function removeAll(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 3 });
}

async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
