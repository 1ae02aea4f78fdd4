import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, realpath, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolUnavailableError, ToolUserError } from '@sluice/core';
import type { Clock } from '@sluice/core';
import { addTo, removeEmpty, replace, requireRoom } from './changes.js';
import type { Home } from './changes.js';
import { Confined, requireOwnSpelling, shown } from './confined.js';
import type { PathEntry } from './confined.js';
import { entriesOf, everythingIn, matchesIn, usageOf } from './contents.js';
import { forgetIn, markUsed } from './forget.js';
import { namesOf } from './path.js';
import { partOf } from './text.js';
import { workspaceLimits } from '@sluice/tools';
import type {
  EntryKind,
  FilePart,
  Listing,
  Match,
  Matches,
  Usage,
  Workspace,
  Workspaces,
  Written,
} from '@sluice/tools';

/**
 * Workspaces in a folder, each in a folder of its own that is named by a hash, so that no session’s name can be a
 * path. Several processes may use the folder. A session's folder has the time of its last use. `onFault` hears why
 * the folder could not be used; callers of tools do not.
 */
export function openFolderWorkspaces(folder: string, clock: Clock, onFault: (error: Error) => void): Workspaces {
  return {
    of: (session) => {
      const name = createHash('sha256').update(session).digest('hex').slice(0, 40);
      return new FolderWorkspace(folder, name, clock, onFault);
    },
    forget: (before) => forgetIn(folder, before),
  };
}

class FolderWorkspace implements Workspace {
  constructor(
    private readonly folder: string,
    private readonly name: string,
    private readonly clock: Clock,
    private readonly onFault: (error: Error) => void,
  ) {}

  read(path: string, offset: number, limit: number): Promise<FilePart> {
    return this.guarded(async ({ files }) => {
      const names = namesOf(path);
      const handle = await files.open(await existingFile(files, names), constants.O_RDONLY);
      try {
        return await partOf(handle, names, offset, limit);
      } finally {
        await handle.close();
      }
    });
  }

  bytes(path: string): Promise<Uint8Array | null> {
    return this.guarded(async ({ files }) => {
      const place = await files.at(namesOf(path));
      if (place.stats?.isFile() !== true) return null;
      const handle = await files.open(place, constants.O_RDONLY);
      try {
        return await handle.readFile();
      } finally {
        await handle.close();
      }
    });
  }

  write(path: string, text: string): Promise<Written> {
    return this.guarded(async (home) => {
      const names = namesOf(path);
      const place = await fileOrNothing(home.files, names);
      const size = Buffer.byteLength(text);
      await requireRoom(home, names, place, size);
      await home.files.directory(names.slice(0, -1));
      if (place.stats === null) await requireOwnSpelling(names, join(place.path, '..'));
      await replace(home, place.path, text);
      return { size, created: place.stats === null };
    });
  }

  append(path: string, text: string): Promise<Written> {
    return this.guarded(async (home) => {
      const names = namesOf(path);
      const place = await fileOrNothing(home.files, names);
      if (place.stats === null) return this.write(path, text);
      const bytes = Buffer.from(text);
      await requireRoom(home, names, place, place.stats.size + bytes.length);
      const handle = await home.files.open(place, constants.O_WRONLY | constants.O_APPEND);
      try {
        await addTo(handle, bytes);
      } finally {
        await handle.close();
      }
      return { size: place.stats.size + bytes.length, created: false };
    });
  }

  list(path: string, offset: number, limit: number): Promise<Listing> {
    return this.guarded(async ({ files }) => {
      const names = namesOf(path);
      const place = await files.at(names);
      if (place.stats === null && names.length > 0) throw missing(names);
      if (place.stats?.isFile() === true) throw new ToolUserError(`${shown(names)} is a file. Read it with read_file.`);
      const entries = await entriesOf(place.path);
      return { entries: entries.slice(offset, offset + limit), total: entries.length };
    });
  }

  remove(path: string): Promise<boolean> {
    return this.guarded(async ({ files }) => {
      const names = namesOf(path);
      if (names.length === 0) throw new ToolUserError('The workspace itself cannot be deleted. Name a file in it.');
      const { path: at, stats } = await files.at(names);
      if (stats === null) return false;
      if (stats.isFile()) await unlink(at);
      else await removeEmpty(at, names);
      return true;
    });
  }

  search(text: string, path: string, limit: number, signal: AbortSignal): Promise<Matches> {
    return this.guarded(async ({ files }) => {
      const names = namesOf(path);
      const place = await files.at(names);
      if (place.stats === null && names.length > 0) throw missing(names);
      const matches: Match[] = [];
      for await (const { at, path: named, bytes } of filesAt(place, names)) {
        signal.throwIfAborted();
        if (bytes > workspaceLimits.fileBytes) continue;
        for await (const match of matchesIn(at, named, text)) {
          if (matches.length === limit) return { matches, truncated: true };
          matches.push(match);
        }
      }
      return { matches, truncated: false };
    });
  }

  kindOf(path: string): Promise<EntryKind | null> {
    return this.guarded(async ({ files }) => {
      const names = namesOf(path);
      const { stats } = await files.at(names);
      if (stats === null) return names.length === 0 ? 'directory' : null;
      return stats.isFile() ? 'file' : 'directory';
    });
  }

  usage(): Promise<Usage> {
    return this.guarded(async ({ path }) => usageOf(join(path, 'files')));
  }

  /** Runs the work on the session’s folder. What the file system says stays with the operator. */
  private async guarded<T>(work: (home: Home) => Promise<T>): Promise<T> {
    try {
      await mkdir(this.folder, { recursive: true });
      const path = join(await realpath(this.folder), this.name);
      await markUsed(path, this.clock.now());
      return await work({ path, files: new Confined(join(path, 'files')) });
    } catch (error) {
      // Read by its members: an error from another context is no instance of this one’s Error.
      if (typeof error !== 'object' || error === null || !('syscall' in error)) throw error;
      this.onFault(error as unknown as Error);
      throw new ToolUnavailableError('The workspace cannot be used.', { cause: error });
    }
  }
}

async function fileOrNothing(files: Confined, names: readonly string[]): Promise<PathEntry> {
  const place = await files.at(names);
  if (names.length === 0 || place.stats?.isDirectory() === true) {
    throw new ToolUserError(`${shown(names)} is a directory. Name a file.`);
  }
  return place;
}

async function existingFile(files: Confined, names: readonly string[]): Promise<PathEntry> {
  const place = await fileOrNothing(files, names);
  if (place.stats === null) throw missing(names);
  return place;
}

function missing(names: readonly string[]): ToolUserError {
  return new ToolUserError(`There is no ${shown(names)} in the workspace. list_files shows what there is.`);
}

async function* filesAt(
  { path, stats }: PathEntry,
  names: readonly string[],
): AsyncGenerator<{ readonly at: string; readonly path: string; readonly bytes: number }> {
  if (stats?.isFile() === true) {
    yield { at: path, path: names.join('/'), bytes: stats.size };
    return;
  }
  for await (const found of everythingIn(path, names)) {
    if (found.kind !== 'file') continue;
    yield { at: join(path, ...found.names.slice(names.length)), path: found.names.join('/'), bytes: found.bytes };
  }
}
