import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { isBusy, storageFault } from './storage-error.js';

/**
 * `powerLoss`: on the disk before it counts (synchronous=FULL). `processLoss`: survives the death of the process, and
 * after a power loss is gone together with everything that came of it (synchronous=NORMAL).
 */
export type Durability = 'powerLoss' | 'processLoss';

/** How long a write waits for another process's lock, milliseconds. */
const patienceMs = 10_000;
const busyWaitMs = 3;

/** The one connection of a bus. Transactions are synchronous, so within the process they cannot meet. */
export class Store {
  #durability: Durability | undefined;

  constructor(readonly database: DatabaseSync) {}

  /** Throws what SQLite throws; nothing of the transaction is left then. */
  transaction<T>(durability: Durability, work: () => T): T {
    const { database } = this;
    if (this.#durability !== durability) {
      database.exec(durability === 'powerLoss' ? 'PRAGMA synchronous = FULL' : 'PRAGMA synchronous = NORMAL');
      this.#durability = durability;
    }
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

  /** As `transaction`, waiting for another process's lock without stopping the event loop. Throws Fault('storage'). */
  async write<T>(durability: Durability, work: () => T): Promise<T> {
    return patiently('The log could not be written', () => this.transaction(durability, work));
  }
}

/** Repeats what meets another process's lock, for up to ten seconds. Throws SQLite's errors as Fault('storage'). */
export async function patiently<T>(doing: string, work: () => T): Promise<T> {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw storageFault(doing, error);
    }
    await delay(busyWaitMs);
  }
}
