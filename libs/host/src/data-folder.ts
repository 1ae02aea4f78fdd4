import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The files of the embedded default. */
export function dataFiles({ dataFolder }: { readonly dataFolder: string }) {
  return {
    log: join(dataFolder, 'log.sqlite'),
    ledger: join(dataFolder, 'ledger.sqlite'),
    /** The gateway’s lists of runs: follows from the log, and may be removed. */
    projection: join(dataFolder, 'projection.sqlite'),
    graph: join(dataFolder, 'graph.sqlite'),
    /** Of requirements, one file a tenant. */
    graphs: join(dataFolder, 'graphs'),
    workspaces: join(dataFolder, 'workspaces'),
    /** What no record has room for. */
    content: join(dataFolder, 'content'),
    /** What filter and executor sign with; made on first run. */
    keys: join(dataFolder, 'keys.json'),
    /** The newest version of the program that opened the folder. */
    writtenBy: join(dataFolder, 'written-by.json'),
    /** What requests over HTTP prove themselves by where no identity is configured; made on first run. */
    localSecret: join(dataFolder, 'local-secret'),
    /** Where the services' lines go when they run under a command that a person watches. */
    lines: join(dataFolder, 'sluice.log'),
  };
}

/** Makes the data folder if it is not there. Throws a sentence if it cannot be used. */
export function prepareDataFolder(folder: string): void {
  try {
    makeFolder(folder, 0o700);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new Error(
      `The data folder ${folder} cannot be written: ${(error as Error).message}. Set SLUICE_DATA to one that can.`,
      { cause: error },
    );
  }
}

/**
 * Makes a folder and those above it that are not there. Node's own way of it never ends where a folder that is there
 * says that it is not, as /proc does.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return;
    const above = dirname(folder);
    if (code !== 'ENOENT' || existsSync(above)) throw error;
    makeFolder(above);
    makeFolder(folder, mode);
  }
}
