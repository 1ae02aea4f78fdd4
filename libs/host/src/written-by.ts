import { readFileSync } from 'node:fs';
import { Fault, programVersion } from '@sluice/core';
import { dataFiles } from './data-folder.js';
import { writePrivate } from './private-files.js';

type Folder = Parameters<typeof dataFiles>[0];

/**
 * Opens a file of the data folder, and writes down there which version did. One that finds its format too new says
 * which version the folder needs.
 */
export async function openNamed<T>(folder: Folder, open: () => Promise<T>): Promise<T> {
  const newest = newestVersion(folder);
  let opened: T;
  try {
    opened = await open();
  } catch (error) {
    if (newest === null || !isOlder(programVersion, newest) || !isTooNew(error)) throw error;
    const message = `${error.message} The data folder needs Sluice ${newest}; this is ${programVersion}.`;
    throw new Fault(error.code, message, error.retryable, { cause: error });
  }
  if (newest === null || isOlder(newest, programVersion))
    writePrivate(dataFiles(folder).writtenBy, `${JSON.stringify({ version: programVersion })}\n`);
  return opened;
}

/** The newest version that opened the folder; null where none that writes it down did. */
export function newestVersion(folder: Folder): string | null {
  try {
    const { version } = JSON.parse(readFileSync(dataFiles(folder).writtenBy, 'utf8')) as { readonly version?: unknown };
    return typeof version === 'string' && /^\d+\.\d+\.\d+$/.test(version) ? version : null;
  } catch {
    return null;
  }
}

function isTooNew(error: unknown): error is Fault {
  return error instanceof Fault && error.message.includes('written by a newer version');
}

function isOlder(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const at = left.findIndex((part, place) => part !== right[place]);
  return at !== -1 && (left[at] ?? 0) < (right[at] ?? 0);
}
