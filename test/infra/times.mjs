import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const file = join(import.meta.dirname, 'times.json');
/** A test file that takes less, seconds, is not worth a line. */
const least = 5;

/** How many seconds the longer test files took when somebody measured them last, by their paths in the project. */
export const times = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};

/** Keeps what a run measured, for the order of the next ones; files that are gone go. */
export function keepTimes(measured) {
  const root = join(import.meta.dirname, '..', '..');
  const all = { ...times, ...Object.fromEntries(measured) };
  const kept = Object.entries(all)
    .filter(([path, seconds]) => seconds >= least && existsSync(join(root, path)))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(kept.map(([p, s]) => [p, Math.round(s)])), null, 2)}\n`);
}
