import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataFiles } from '@sluice/host';
import { Snapshot } from '@sluice/sqlite';
import { requireRoom } from './files.js';

/**
 * Works with a copy of the log in a data folder of its own, which goes afterwards: what opens it may bring it to this
 * version, and the original stays as it is.
 */
export async function withLogCopy<T>(
  { dataFolder }: { readonly dataFolder: string },
  work: (copyFolder: string) => Promise<T>,
): Promise<T> {
  const copyFolder = await mkdtemp(join(tmpdir(), 'sluice-log-'));
  try {
    const snapshot = new Snapshot(dataFiles({ dataFolder }).log);
    try {
      await requireRoom(copyFolder, snapshot.bytes, copyFolder);
      await snapshot.copyTo(dataFiles({ dataFolder: copyFolder }).log, () => undefined);
    } finally {
      snapshot.close();
    }
    return await work(copyFolder);
  } finally {
    await rm(copyFolder, { recursive: true, force: true });
  }
}
