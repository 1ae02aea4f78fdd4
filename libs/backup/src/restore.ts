import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { dataFiles, prepareDataFolder } from '@sluice/host';
import type { Environment, Log } from '@sluice/host';
import { isFull, Snapshot } from '@sluice/sqlite';
import { copyFile, isCode, requireRoom, syncOf } from './files.js';
import { markInDoubt } from './in-doubt.js';
import type { CallInDoubt } from './in-doubt.js';
import { damaged, filesFolder, readManifest } from './manifest.js';
import type { Manifest } from './manifest.js';
import { arrivingName, formerName, leftByRestore } from './restore-names.js';

interface RestoreOptions {
  readonly from: string;
  /** Its data folder is what is made. */
  readonly environment: Environment;
  readonly log: Log;
  /** Whether a folder that has files gives way: they are moved to a folder in it. */
  readonly replaces: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Ends it before anything in the data folder changes. */
  readonly signal: AbortSignal;
  onProgress(done: number, total: number): void;
}

interface Restored {
  readonly manifest: Manifest;
  readonly inDoubt: readonly CallInDoubt[];
  /** Where the files are that were there before; null where there were none. */
  readonly former: string | null;
}

/**
 * Makes a data folder of a backup. All is copied and compared with its checksums first, in a folder within; only then
 * files take their names, the log last: a folder that has no log yet, but the ledger of one, starts no service.
 * Throws a sentence, and leaves the folder as it was.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { environment, replaces, now, signal } = options;
  const from = resolve(options.from);
  const folder = resolve(environment.dataFolder);
  const manifest = readManifest(from);
  const wasThere = existsSync(folder);
  const before = wasThere ? (await readdir(folder)).filter((name) => !leftByRestore(name)) : [];
  requireUnused(folder, now);
  if (before.length > 0 && !replaces)
    throw new Error(
      `The data folder ${environment.dataFolder} is not empty. Set SLUICE_DATA to another one, or give --replace: what is there is moved to a folder in it.`,
    );
  prepareDataFolder(folder);
  const arriving = join(folder, arrivingName());
  const moves = new Moves();
  try {
    await mkdir(arriving, { mode: 0o700 });
    await requireRoom(folder, totalOf(manifest), environment.dataFolder);
    await copyAll(from, arriving, manifest, options);
    const inDoubt = await markInDoubt({ ...environment, dataFolder: arriving }, options.log, manifest);
    signal.throwIfAborted();
    requireUnused(folder, now);
    const former = before.length === 0 ? null : await makeWay(folder, before, now, moves);
    await moveIn(arriving, folder, moves);
    return { manifest, inDoubt, former };
  } catch (error) {
    if (!(await moves.undo()))
      throw new Error(
        `The restore was cut off (${(error as Error).message}). What was there is in ${join(folder, formerName(now))}, what was to come in ${arriving}; move it by hand.`,
        { cause: error },
      );
    await rmdir(join(folder, formerName(now))).catch(() => undefined);
    await rm(arriving, { recursive: true, force: true });
    // Only an empty folder that this has made goes.
    if (!wasThere) await rm(folder, { recursive: true, force: true });
    throw explained(error, options);
  }
}

async function copyAll(
  from: string,
  to: string,
  manifest: Manifest,
  { signal, onProgress }: Pick<RestoreOptions, 'signal' | 'onProgress'>,
): Promise<void> {
  const total = totalOf(manifest);
  let done = 0;
  for (const { path, mode, bytes, sha256 } of manifest.files) {
    const source = join(from, filesFolder, path);
    const found = await lstat(source).catch(() => null);
    if (found?.isFile() !== true) throw damaged(from, `${path} is missing`);
    if (found.size !== bytes) throw damaged(from, `${path} has ${found.size} of ${bytes} bytes`);
    const copied = await copyFile(source, join(to, path), mode, (more) => {
      signal.throwIfAborted();
      onProgress((done += more), total);
    });
    if (copied.sha256 !== sha256) throw damaged(from, `${path} is not as it was written`);
  }
}

/** Throws a sentence while services run on the folder. One whose log cannot be read is in no use. */
function requireUnused(folder: string, now: number): void {
  const { log } = dataFiles({ dataFolder: folder });
  if (!existsSync(log)) return;
  const holders = holdersOf(log, now);
  if (holders.length === 0) return;
  throw new Error(
    `The data folder ${folder} is in use: ${holders.join(', ')} of it run. Stop them; where they were killed, wait ten seconds.`,
  );
}

function holdersOf(log: string, now: number): readonly string[] {
  let snapshot: Snapshot | undefined;
  try {
    snapshot = new Snapshot(log);
    return snapshot
      .rows(`SELECT consumer_group FROM leases WHERE process_id IS NOT NULL AND expires_at > ${now}`)
      .map((row) => String(row['consumer_group']));
  } catch {
    return [];
  } finally {
    snapshot?.close();
  }
}

/** The log goes first: what is left of a move that was cut off starts no service. */
async function makeWay(folder: string, names: readonly string[], now: number, moves: Moves): Promise<string> {
  const former = join(folder, formerName(now));
  await mkdir(former, { mode: 0o700 });
  for (const name of [...names].sort((one, other) => rank(one) - rank(other)))
    await moves.move(join(folder, name), join(former, name));
  return former;
}

/** Files that were moved, which go back where one of them cannot be: a folder of a mount of its own, say. */
class Moves {
  private readonly done: (readonly [string, string])[] = [];

  async move(from: string, to: string): Promise<void> {
    await rename(from, to);
    this.done.push([from, to]);
  }

  /** Whether all of them are back. */
  async undo(): Promise<boolean> {
    try {
      for (let last = this.done.at(-1); last !== undefined; last = this.done.at(-1)) {
        await rename(last[1], last[0]);
        this.done.pop();
      }
      return true;
    } catch {
      return false;
    }
  }
}

async function moveIn(arriving: string, folder: string, moves: Moves): Promise<void> {
  await chmod(folder, 0o700);
  const names = (await readdir(arriving)).filter((name) => !/-(?:wal|shm)$/.test(name));
  for (const name of names.sort((one, other) => rank(other) - rank(one)))
    await moves.move(join(arriving, name), join(folder, name));
  await syncOf(folder);
  await rm(arriving, { recursive: true, force: true });
  await syncOf(dirname(folder));
}

/** 0 for the log and what SQLite keeps beside it. */
function rank(name: string): number {
  return name.startsWith('log.sqlite') ? 0 : 1;
}

function totalOf({ files }: Manifest): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

function explained(error: unknown, { environment, signal }: RestoreOptions): unknown {
  if (signal.aborted) return new Error('Stopped, so nothing was restored.', { cause: error });
  if (isFull(error) || isCode(error, 'ENOSPC') || isCode(error, 'EDQUOT'))
    return new Error(`Nothing was restored to ${environment.dataFolder}: the disk is full. Free some space.`, {
      cause: error,
    });
  return error;
}
