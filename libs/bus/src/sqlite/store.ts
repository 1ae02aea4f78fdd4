import type { DatabaseSync } from 'node:sqlite';
import { inTransaction, pastLocks } from '@sluice/sqlite';
import { storageFault } from './storage-error.js';

/**
 * `powerLoss`: on the disk before it counts (synchronous=FULL). `processLoss`: survives the death of the process, and
 * after a power loss is gone together with everything that came of it (synchronous=NORMAL).
 */
export type Durability = 'powerLoss' | 'processLoss';

/** The one connection of a bus. Transactions are synchronous, so within the process they cannot meet. */
export class Store {
  private durability: Durability | undefined;

  constructor(readonly database: DatabaseSync) {}

  /** Throws what SQLite throws; nothing of the transaction is left then. */
  transaction<T>(durability: Durability, work: () => T): T {
    const { database } = this;
    if (this.durability !== durability) {
      database.exec(durability === 'powerLoss' ? 'PRAGMA synchronous = FULL' : 'PRAGMA synchronous = NORMAL');
      this.durability = durability;
    }
    return inTransaction(database, work);
  }

  /** As `transaction`, waiting for another process's lock without stopping the event loop. Throws Fault('storage'). */
  async write<T>(durability: Durability, work: () => T): Promise<T> {
    return patiently('The log could not be written', () => this.transaction(durability, work));
  }
}

/** Repeats what meets another process's lock, for up to ten seconds. Throws SQLite's errors as Fault('storage'). */
export async function patiently<T>(doing: string, work: () => T): Promise<T> {
  return pastLocks(work, (error) => storageFault(doing, error));
}
