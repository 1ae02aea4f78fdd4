import { constants } from 'node:fs';
import { lstat, open, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { anotherKind, fromSystem, invalidPath } from './refusals.mjs';

/**
 * The allowed folders, and the only way from a path in a call to a place in the file system. No link is followed: a
 * path that leads through one is refused, wherever the link leads.
 */
export class Folders {
  #roots;

  /** `roots` are real paths. */
  constructor(roots) {
    this.#roots = roots;
  }

  static async open(paths) {
    if (paths.length === 0) throw new Error('Name the folders whose files may be used: npx . FOLDER…');
    const roots = await Promise.all(paths.map(folderAt));
    return new Folders(roots);
  }

  /**
   * Where a path in a call leads; it need not exist, but the folder that it is in must. Throws a sentence for the
   * model.
   */
  async place(path) {
    if (path.includes('\0')) throw invalidPath();
    const wanted = resolve(this.#roots[0], path);
    const root = this.#roots.find((one) => isWithin(one, wanted));
    if (root === undefined) throw invalidPath();
    const parent = wanted === root ? root : dirname(wanted);
    await requireReal(parent, path);
    const stats = await lstat(wanted).catch((error) => {
      if (error.code === 'ENOENT') return null;
      throw fromSystem(error, path);
    });
    if (stats?.isSymbolicLink()) throw anotherKind(path, 'a link, which is never followed');
    return { path: wanted, shown: path, stats };
  }

  /** Opens the regular file that `place` saw, and no other one. The caller closes it. */
  async openFile({ path, shown, stats }) {
    if (stats === null) throw fromSystem({ code: 'ENOENT' }, shown);
    requireFile(stats, shown);
    // Without waiting: a pipe that takes the file’s place must not hold up the server.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const handle = await open(path, flags).catch((error) => {
      throw fromSystem(error, shown);
    });
    try {
      const opened = await handle.stat();
      if (opened.ino !== stats.ino || opened.dev !== stats.dev) throw fromSystem({ code: 'EAGAIN' }, shown);
      await requireReal(dirname(path), shown);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
}

/** A regular file with a single name: a second one could stand outside of the folders. */
export function requireFile(stats, shown) {
  if (stats.isDirectory()) throw anotherKind(shown, 'a directory');
  if (!stats.isFile()) throw anotherKind(shown, 'a device, a pipe or a socket');
  if (stats.nlink > 1) throw anotherKind(shown, 'linked to from elsewhere');
}

/** Refuses a folder that is reached through a link, or is none. */
export async function requireReal(folder, shown) {
  const real = await realpath(folder).catch((error) => {
    throw fromSystem(error, shown);
  });
  if (real !== folder) throw anotherKind(shown, 'reached through a link, which is never followed');
}

function isWithin(root, path) {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

async function folderAt(path) {
  const real = await realpath(path).catch(() => null);
  if (real === null || !(await stat(real)).isDirectory())
    throw new Error(`${path} is no folder. Name folders that exist: npx . FOLDER…`);
  return real;
}
