import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { programVersion } from '@sluice/core';
import { dataFiles } from '@sluice/host';
import { isFull, isSqliteError, Snapshot } from '@sluice/sqlite';
import { sizeOf, copyFile, digestOf, filesBelow, isCode, modeOf, requireRoom, syncOf } from './files.js';
import type { Copied, OnBytes } from './files.js';
import { backupFormat, filesFolder, manifestFile, manifestText } from './manifest.js';
import type { CopiedFile, Manifest } from './manifest.js';
import { leftByRestore } from './restore-names.js';

interface TakeOptions {
  readonly dataFolder: string;
  /** The folder to make. */
  readonly to: string;
  readonly withKeys: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Ends it: nothing of the backup is left then. */
  readonly signal: AbortSignal;
  onProgress(done: number, total: number): void;
}

/** Databases in the order in which their moments are taken. Others follow by name. */
const first = ['log.sqlite', 'ledger.sqlite'];
/** Secrets that let their holder sign, sign in, or make credentials. */
const keyFiles = ['keys.json', 'local-secret', 'trial-issuer.json'];
/** What a start makes again of the log, and what services said. */
const madeAgain = ['projection.sqlite', 'sluice.log'];

/**
 * Copies a data folder that may be in use. All databases are of one moment, the log's a little before the ledger's,
 * so that no record is in the copy whose claims are not. Other files follow. The folder has its name when all of it
 * is on the disk; before that it stands beside under another name. Throws a sentence.
 */
export async function takeBackup(options: TakeOptions): Promise<Manifest> {
  const to = resolve(options.to);
  if (existsSync(to))
    throw new Error(`${options.to} is there already. Name a folder that is not: each backup has one.`);
  const beside = `${to}.${randomBytes(4).toString('hex')}.part`;
  try {
    await mkdir(dirname(to), { recursive: true });
    await mkdir(join(beside, filesFolder), { recursive: true, mode: 0o700 });
    const manifest = await copyAll(beside, options);
    await writeFile(manifestFile(beside), manifestText(manifest), { mode: 0o600 });
    await syncOf(manifestFile(beside));
    await syncOf(beside);
    options.signal.throwIfAborted();
    await rename(beside, to);
    await syncOf(dirname(to));
    return manifest;
  } catch (error) {
    await rm(beside, { recursive: true, force: true });
    throw options.signal.aborted ? stopped(error) : explained(error, options);
  }
}

async function copyAll(
  to: string,
  { dataFolder, to: shown, withKeys, now, signal, onProgress }: TakeOptions,
): Promise<Manifest> {
  const files = dataFiles({ dataFolder });
  const names = await filesBelow(dataFolder, (path) => isLeftOut(path, withKeys));
  const databases = inOrder(names.filter((path) => isDatabase(path)));
  const plain = names.filter((path) => !isDatabase(path));
  const snapshots = new Map<string, Snapshot>();
  try {
    for (const path of databases) snapshots.set(path, new Snapshot(join(dataFolder, path)));
    const log = snapshots.get(first[0] ?? '');
    if (log === undefined) throw new Error(`There is no log in ${dataFolder}.`);
    const sizes = [...snapshots.values()].map(({ bytes }) => bytes);
    for (const path of plain) sizes.push(await sizeOf(join(dataFolder, path)));
    const total = sizes.reduce((sum, one) => sum + one, 0);
    await requireRoom(to, total, shown);
    let done = 0;
    const progress: OnBytes = (bytes) => {
      signal.throwIfAborted();
      onProgress((done += bytes), Math.max(done, total));
    };
    const copied: CopiedFile[] = [];
    for (const [path, snapshot] of snapshots)
      copied.push(await copyDatabase(snapshot, path, join(to, filesFolder, path), progress));
    for (const path of plain) {
      const mode = await modeOf(join(dataFolder, path));
      if (mode === null) continue;
      const about = await copyPlain(join(dataFolder, path), join(to, filesFolder, path), mode, progress);
      if (about !== null) copied.push({ path, mode, ...about });
    }
    return {
      format: backupFormat,
      version: programVersion,
      takenAt: new Date(now).toISOString(),
      log: String(log.value('SELECT id FROM identity')),
      ends: Object.fromEntries(
        log.rows('SELECT name, next_offset FROM topics ORDER BY name').map((row) => [row['name'], row['next_offset']]),
      ) as Record<string, number>,
      hasKeys: withKeys && existsSync(files.keys),
      hasLedger: snapshots.has(first[1] ?? ''),
      files: copied,
    };
  } finally {
    for (const snapshot of snapshots.values()) snapshot.close();
  }
}

async function copyDatabase(snapshot: Snapshot, path: string, to: string, onBytes: OnBytes): Promise<CopiedFile> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  let before = 0;
  await snapshot.copyTo(to, (bytes) => {
    onBytes(bytes - before);
    before = bytes;
  });
  await chmod(to, 0o600);
  await syncOf(to);
  return { path, mode: 0o600, ...(await digestOf(to)) };
}

/** Null for a file that is gone meanwhile. */
async function copyPlain(from: string, to: string, mode: number, onBytes: OnBytes): Promise<Copied | null> {
  try {
    return await copyFile(from, to, mode, onBytes);
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
    await rm(to, { force: true });
    return null;
  }
}

/** Files that tools write below workspaces/ are copied as they are, whatever they are called. */
function isDatabase(path: string): boolean {
  return /^(?:graphs\/)?[^/]+\.sqlite$/.test(path);
}

function inOrder(databases: readonly string[]): readonly string[] {
  return [...first.filter((path) => databases.includes(path)), ...databases.filter((path) => !first.includes(path))];
}

function isLeftOut(path: string, withKeys: boolean): boolean {
  if (madeAgain.some((name) => path === name || path.startsWith(`${name}.`))) return true;
  // What belongs to a database comes with its snapshot. Files of tools are theirs, whatever they are called.
  if (isDatabase(path.replace(/-(?:wal|shm|journal)$/, '')) && !isDatabase(path)) return true;
  if (!path.startsWith('workspaces/') && path.endsWith('.new')) return true;
  if (leftByRestore(path)) return true;
  return !withKeys && keyFiles.some((name) => path === name || path.startsWith(`${name}.`));
}

function stopped(error: unknown): Error {
  return new Error('Stopped, so there is no backup.', { cause: error });
}

function explained(error: unknown, { to }: TakeOptions): unknown {
  if (isFull(error) || isCode(error, 'ENOSPC') || isCode(error, 'EDQUOT'))
    return new Error(`The backup ${to} is not made: the disk is full. Free some space, or name another folder.`, {
      cause: error,
    });
  const isSystem = typeof (error as NodeJS.ErrnoException).syscall === 'string';
  if (!isSystem && !isSqliteError(error)) return error;
  return new Error(`The backup ${to} is not made: ${(error as Error).message}.`, { cause: error });
}
