import type { DatabaseSync } from 'node:sqlite';
import type { Durability } from '@sluice/core';
import { inTransaction, Journal, pastLocks } from '@sluice/sqlite';
import { log, storageFault } from './storage-error.js';

/** The one connection of a bus. Transactions are synchronous, so within the process they cannot meet. */
export class Store {
  private readonly journal: Journal;

  constructor(readonly database: DatabaseSync) {
    this.journal = new Journal(database, log);
  }

  /** Throws what SQLite throws; nothing of the transaction is left then. */
  transaction<T>(work: () => T): T {
    return inTransaction(this.database, work);
  }

  /**
   * As `transaction`, waiting for another process's lock, and with `powerLoss` for the disk, without stopping the event
   * loop. What outlives only the process is, after a power loss, gone together with everything that came of it. Throws
   * Fault('storage').
   */
  async write<T>(durability: Durability, work: () => T): Promise<T> {
    const result = await patiently('The log could not be written', () => this.transaction(work));
    if (durability === 'powerLoss') await this.flush();
    return result;
  }

  /** Resolves when all that was written is on the disk. Throws Fault('storage'). */
  flush(): Promise<void> {
    return this.journal.flush();
  }

  async close(): Promise<void> {
    await this.journal.close();
    this.database.close();
  }
}

/** Repeats what meets another process's lock, for up to ten seconds. Throws SQLite's errors as Fault('storage'). */
export async function patiently<T>(doing: string, work: () => T): Promise<T> {
  return pastLocks(work, (error) => storageFault(doing, error));
}
