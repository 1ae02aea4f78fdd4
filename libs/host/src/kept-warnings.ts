import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { topics } from '@sluice/contracts';
import { dataFiles } from './data-folder.js';
import type { Environment } from './environment.js';

const gigabyte = 1024 ** 3;
/** From so many bytes on an operator hears at each start how much there is: some 180,000 runs with a call each. */
const worthSaying = 5 * gigabyte;

/**
 * What an operator should know of a data folder that grows for ever: how much it holds, and what to set. Nothing is
 * removed unless an operator says so, since a new version must not take away what a folder holds.
 */
export function keptWarnings({
  dataFolder,
  retention,
}: Pick<Environment, 'dataFolder' | 'retention'>): readonly string[] {
  if (retention[topics.toolsets].ms !== -1) return [];
  const { log, projection, ledger } = dataFiles({ dataFolder });
  const bytes = [log, projection, ledger].reduce((all, file) => all + sizeOf(file), 0);
  if (bytes < worthSaying) return [];
  const size = (bytes / gigabyte).toFixed(1);
  return [
    `the log and its lists in ${resolve(dataFolder)} hold ${size} GB, and runs are kept for ever. Set SLUICE_RETENTION_HOURS, such as 720 for 30 days, to have what is older removed; docs/operations.md says what a run takes`,
  ];
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
