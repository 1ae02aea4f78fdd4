import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programVersion } from '@sluice/core';
import { sha256 } from '@sluice/contracts';

/** The form of the folder that a backup is; a form that this version does not know is refused. */
export const backupFormat = 1;
const manifestName = 'manifest.json';
/** The folder of the copied files in a backup. */
export const filesFolder = 'data';

export interface CopiedFile {
  /** In the data folder, with forward slashes. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Who may read and write it, as the file system counts. */
  readonly mode: number;
}

/** What a backup says of itself. */
export interface Manifest {
  readonly format: number;
  /** The version of Sluice that made it. */
  readonly version: string;
  /** When the moment was that it shows, ISO 8601. */
  readonly takenAt: string;
  /** The id of the log, which its ledger belongs to. */
  readonly log: string;
  /** By topic, the offset behind its last record. */
  readonly ends: Readonly<Record<string, number>>;
  readonly hasKeys: boolean;
  /** Whether the ledger is one of its files; else it is in a database that has backups of its own. */
  readonly hasLedger: boolean;
  readonly files: readonly CopiedFile[];
}

export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify({ ...manifest, checksum: sha256(JSON.stringify(manifest)) }, null, 2)}\n`;
}

export function manifestFile(folder: string): string {
  return join(folder, manifestName);
}

/** Reads it. Throws a sentence if the folder is no backup, one of a newer version, or damaged. */
export function readManifest(folder: string): Manifest {
  let text: string;
  try {
    text = readFileSync(manifestFile(folder), 'utf8');
  } catch (error) {
    throw new Error(`${folder} is no backup: it has no ${manifestName}.`, { cause: error });
  }
  const { checksum, ...manifest } = parsed(text, folder);
  // A newer form may say other things, so this comes before the checksum.
  if (manifest.format > backupFormat || isNewer(manifest.version))
    throw new Error(
      `The backup ${folder} was made by Sluice ${manifest.version}; this is ${programVersion}. Restore it with that version or a later one.`,
    );
  if (checksum !== sha256(JSON.stringify(manifest)) || !manifest.files.every(({ path }) => isInside(path)))
    throw damaged(folder, `${manifestName} is not as it was written`);
  return manifest;
}

export function damaged(folder: string, how: string): Error {
  return new Error(`The backup ${folder} is damaged: ${how}. Nothing was restored. Take another backup.`);
}

function parsed(text: string, folder: string): Manifest & { readonly checksum?: unknown } {
  try {
    const value = JSON.parse(text) as Partial<Manifest> | null;
    if (typeof value?.format === 'number' && typeof value.version === 'string' && Array.isArray(value.files))
      return value as Manifest;
  } catch {
    // Said below.
  }
  throw damaged(folder, `${manifestName} cannot be read`);
}

/** No path leads out of the folder that it is restored to. */
function isInside(path: string): boolean {
  return path !== '' && !path.split(/[/\\]/).some((part) => part === '' || part === '.' || part === '..');
}

function isNewer(version: string): boolean {
  const [one, other] = [version, programVersion].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const at = one.findIndex((part, place) => part !== other[place]);
  return at !== -1 && (one[at] ?? 0) > (other[at] ?? 0);
}
