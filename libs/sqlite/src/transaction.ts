import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { isBusy } from './errors.js';

/** How long another process's lock is waited for, milliseconds. */
const patienceMs = 10_000;
const busyWaitMs = 3;

/** All or nothing. Throws what `work` or SQLite throws. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/**
 * Repeats what meets another process's lock, without stopping the event loop. Throws what `toError` makes of the
 * error that stays.
 */
export async function pastLocks<T>(work: () => T, toError: (error: unknown) => unknown): Promise<T> {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw toError(error);
    }
    await delay(busyWaitMs);
  }
}
