import { chmodSync, linkSync, rmSync, writeFileSync } from 'node:fs';

/** Writes a file that its owner alone may read, whatever the umask is. */
export function writePrivate(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 });
  // The mode above is only for a file that was not there.
  chmodSync(file, 0o600);
}

/** Writes such a file that is new, whole or not at all. Throws with the code EEXIST if it is there. */
export function createPrivate(file: string, text: string): void {
  const beside = `${file}.${process.pid}.new`;
  try {
    writePrivate(beside, text);
    linkSync(beside, file);
  } finally {
    rmSync(beside, { force: true });
  }
}

/** As createPrivate; a file that is there, or that another process makes meanwhile, stays as it is. */
export function ensurePrivate(file: string, text: string): void {
  try {
    createPrivate(file, text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
