import { createHash } from 'node:crypto';
import { clockSkewMs } from '@sluice/core';
import { storedKey } from './stored-text.js';

/** The database of all that is not a claim, and of the record of placements. It holds claims as well. */
export const firstDatabase = 'first';

/** Which databases hold claims, by name. */
export interface Placement {
  /** From 1; one more each time that databases are added. */
  readonly version: number;
  readonly current: readonly string[];
  /** Oldest first. */
  readonly former: readonly FormerPlacement[];
}

export interface FormerPlacement {
  readonly names: readonly string[];
  /** When the last claim that was taken by it expires, milliseconds since the epoch. */
  readonly until: number;
}

/** Where claims of a key may be. */
export interface KeyDatabases {
  /** Where it is claimed. */
  readonly current: string;
  /** Where a living claim of it may be still. Nothing is claimed there. */
  readonly former: readonly string[];
}

export function databasesOf(key: string, { current, former }: Placement, now: number): KeyDatabases {
  const place = placeOf(key, current);
  const before = livingOf(former, now).map(({ names }) => placeOf(key, names));
  return { current: place, former: [...new Set(before)].filter((one) => one !== place) };
}

/** Those by which a claim may have been taken that lives still, by the clock of any process. */
export function livingOf(former: readonly FormerPlacement[], now: number): readonly FormerPlacement[] {
  return former.filter(({ until }) => now < until + clockSkewMs);
}

/**
 * Rendezvous hashing: each name has a weight for the key, and the heaviest has the key. A name that is added takes its
 * share from all others and moves nothing else.
 */
function placeOf(key: string, names: readonly string[]): string {
  if (names.length === 1) return names[0] ?? firstDatabase;
  const stored = storedKey(key);
  let [heaviest, most] = [firstDatabase, -1n];
  for (const name of names) {
    const weight = createHash('sha256').update(`${name}\0${stored}`).digest().readBigUInt64BE();
    if (weight > most || (weight === most && name > heaviest)) [heaviest, most] = [name, weight];
  }
  return heaviest;
}
