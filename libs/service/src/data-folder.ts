import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from './environment.js';

/** The files of the embedded default. */
export function dataFiles({ dataFolder }: Pick<Environment, 'dataFolder'>) {
  return {
    log: join(dataFolder, 'log.sqlite'),
    ledger: join(dataFolder, 'ledger.sqlite'),
    graph: join(dataFolder, 'graph.sqlite'),
    workspaces: join(dataFolder, 'workspaces'),
    /** What filter and executor sign with; made on first run. */
    keys: join(dataFolder, 'keys.json'),
    /** Where the services' lines go when they run under a command that a person watches. */
    lines: join(dataFolder, 'sluice.log'),
  };
}

/** Makes the data folder if it is not there. Throws a sentence if it cannot be used. */
export function prepareDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new Error(
      `The data folder ${folder} cannot be written: ${(error as Error).message}. Set SLUICE_DATA to one that can.`,
      { cause: error },
    );
  }
}
