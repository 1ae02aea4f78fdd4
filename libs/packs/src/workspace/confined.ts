import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolUserError } from '@sluice/core';

/** What stands at a place; null for nothing. */
export interface PathEntry {
  readonly path: string;
  readonly stats: Stats | null;
}

/**
 * Ways into a folder that never leave it. Each name on the way is looked at by itself, so no link is followed, and a
 * file is opened only if it is the one that was looked at and has no second name. The tools can make no links; this
 * is for what others left there.
 */
export class Confined {
  /** `folder` is a real path. */
  constructor(private readonly folder: string) {}

  /** Throws ToolUserError where the way leads through a link or a file. */
  async at(names: readonly string[]): Promise<PathEntry> {
    let path = this.folder;
    let stats: Stats | null = await look(path);
    for (const [depth, name] of names.entries()) {
      if (stats === null) return { path: join(this.folder, ...names), stats: null };
      if (!stats.isDirectory()) throw new ToolUserError(`${shown(names.slice(0, depth))} is a file, not a directory.`);
      path = join(path, name);
      stats = await look(path);
      if (stats !== null && !stats.isDirectory() && !isOwnFile(stats)) {
        throw new ToolUserError(
          `${shown(names.slice(0, depth + 1))} is a link or a device, or linked to from elsewhere, and never followed.`,
        );
      }
    }
    return { path, stats: stats !== null && (await this.isSpelt(path)) ? stats : null };
  }

  /**
   * False where the file system knows no case and another spelling found the file: it counts as another name, with
   * nothing there.
   */
  private async isSpelt(path: string): Promise<boolean> {
    const real = await realpath(path);
    if (real === path) return true;
    if (real.toLowerCase() === path.toLowerCase()) return false;
    throw new ToolUserError('The workspace’s own folder is a link, which is never followed.');
  }

  /** Makes the directories on the way, and nothing else. */
  async directory(names: readonly string[]): Promise<string> {
    let path = this.folder;
    await mkdir(path, { recursive: true });
    await this.at([]);
    for (let depth = 1; depth <= names.length; depth++) {
      const place = await this.at(names.slice(0, depth));
      path = place.path;
      if (place.stats?.isFile() === true) {
        throw new ToolUserError(`${shown(names.slice(0, depth))} is a file, not a directory.`);
      }
      if (place.stats !== null) continue;
      await requireOwnSpelling(names.slice(0, depth), join(path, '..'));
      await mkdir(path);
    }
    return path;
  }

  /** Throws ToolUserError if it is not the file that `place` saw. */
  async open({ path, stats }: PathEntry, flags: number): Promise<FileHandle> {
    const handle = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const opened = await handle.stat();
    if (isOwnFile(opened) && opened.ino === stats?.ino && opened.dev === stats.dev) return handle;
    await handle.close();
    throw new ToolUserError('The file was replaced while it was opened. Try again.');
  }
}

/** A file with no name but the one it was found by. */
export function isOwnFile(stats: Stats): boolean {
  return stats.isFile() && stats.nlink === 1;
}

/**
 * Refuses a new name that differs from an existing one in case only: where the file system knows no case they would
 * be one.
 */
export async function requireOwnSpelling(names: readonly string[], parent: string): Promise<void> {
  const name = names.at(-1) ?? '';
  const other = (await readdir(parent)).find((each) => each !== name && each.toLowerCase() === name.toLowerCase());
  if (other === undefined) return;
  throw new ToolUserError(
    `There is ${shown([...names.slice(0, -1), other])} already, which differs in upper and lower case only. Use that name or another.`,
  );
}

/** A path for a sentence. */
export function shown(names: readonly string[]): string {
  return names.length === 0 ? 'The workspace itself' : `"${names.join('/')}"`;
}

async function look(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
