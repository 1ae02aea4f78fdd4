import { chmodSync, existsSync, lstatSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative, isAbsolute } from 'node:path';
import type { Log } from './log.js';

/** Rights of the group and of everybody. */
const ofOthers = 0o077;
/** What Sluice keeps in the data folder, with what SQLite and a change of version put beside it. */
const own =
  /^(?:(?:log|ledger|projection|graph)\.sqlite|keys\.json|local-secret|sluice\.log|tool_discovery\.jsonl|trial-issuer\.json)/;
const folders = ['graphs', 'workspaces', 'content'];

/**
 * Takes from others on the machine what they may do with a data folder of a former version, or one made by hand: it
 * holds questions, answers and keys. Says what it changed, and what it could not.
 */
export function tightenDataFolder(
  { dataFolder }: { readonly dataFolder: string },
  log: Pick<Log, 'info' | 'warn'>,
): void {
  if (process.getuid === undefined || !existsSync(dataFolder)) return;
  if (isShared(dataFolder)) {
    if (isOpen(dataFolder))
      log.warn(
        { folder: dataFolder },
        'others on this machine can read the data folder, which holds more than data: give it a folder of its own with SLUICE_DATA',
      );
  } else tighten(dataFolder, 0o700, log);
  const found = readdirSync(dataFolder, { withFileTypes: true });
  for (const entry of found) {
    const path = join(dataFolder, entry.name);
    if (entry.isFile() && own.test(entry.name)) tighten(path, 0o600, log);
    if (entry.isDirectory() && folders.includes(entry.name)) tighten(path, 0o700, log);
  }
}

/** A folder in which a user’s other things are: their rights are the user’s to choose. */
function isShared(folder: string): boolean {
  const isSticky = (lstatSync(folder).mode & 0o1000) !== 0;
  return isSticky || [homedir(), process.cwd()].some((other) => contains(folder, other));
}

function contains(folder: string, other: string): boolean {
  const way = relative(folder, other);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}

function isOpen(path: string): boolean {
  return (lstatSync(path).mode & ofOthers) !== 0;
}

function tighten(path: string, mode: number, log: Pick<Log, 'info' | 'warn'>): void {
  try {
    if (!isOpen(path)) return;
    chmodSync(path, mode);
    log.info({ path, mode: mode.toString(8) }, 'others on this machine could read this, and no longer can');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // SQLite removes files beside its own.
    if (code === 'ENOENT') return;
    log.warn(
      { path, error: message },
      `others on this machine can read this, and it belongs to another user: let its owner run chmod ${mode.toString(8)}`,
    );
  }
}
