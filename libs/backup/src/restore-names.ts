import { randomBytes } from 'node:crypto';

const arriving = '.restoring-';
const former = 'replaced-';

/** The folder, in the data folder, in which files wait until all of them are there. */
export function arrivingName(): string {
  return `${arriving}${randomBytes(4).toString('hex')}`;
}

/** The folder, in the data folder, that what was there before is moved to. */
export function formerName(now: number): string {
  return `${former}${new Date(now).toISOString().replaceAll(':', '-')}`;
}

/** Whether a path in the data folder is of neither the log nor the tools, but of a restore. */
export function leftByRestore(path: string): boolean {
  return path.startsWith(arriving) || path.startsWith(former);
}
