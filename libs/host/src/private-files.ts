import { chmodSync, writeFileSync } from 'node:fs';

/** Writes a file that its owner alone may read, whatever the umask is. */
export function writePrivate(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 });
  // The mode above is only for a file that was not there.
  chmodSync(file, 0o600);
}
