import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Durability } from '@sluice/core';
import { inTransaction, isFull, Journal } from '@sluice/sqlite';
import type { LedgerLog } from '../ledger-log.js';
import { ledger, patiently } from './storage-error.js';

/** How often a write is tried while there is no room for it, milliseconds. */
const roomWaitMs = 200;

interface Asked {
  readonly run: () => unknown;
  readonly durability: Durability;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What is asked in one turn of the event loop goes into the file in one transaction, in the order in which it was
 * asked; what must outlive a loss of power is answered when it is on the disk too, and others go on meanwhile. While
 * the disk is full it waits for room: a claim that is refused would end a run for something that passes.
 */
export class Batch {
  private asked: Asked[] = [];
  private running: Promise<void> | undefined;
  private readonly journal: Journal;
  private readonly flushing = new Set<Promise<void>>();
  private closing = false;
  private trouble: unknown;

  constructor(
    private readonly database: DatabaseSync,
    private readonly log: LedgerLog,
  ) {
    this.journal = new Journal(database, ledger);
  }

  /**
   * Resolves when the result is as durable as it should be. Rejects with Fault('ledger_unreachable'); nothing of the
   * batch is there then, unless the disk itself failed.
   */
  run<T>(work: () => T, durability: Durability = 'powerLoss'): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.asked.push({ run: work, durability, resolve: (result) => resolve(result as T), reject });
      this.running ??= this.work();
    });
  }

  /** Throws Fault('ledger_unreachable') while what was asked waits for room. */
  check(): void {
    if (this.trouble !== undefined) throw this.trouble;
  }

  /** Resolves when nothing is under way; what waits for room is rejected. */
  async close(): Promise<void> {
    this.closing = true;
    while (this.running !== undefined) await this.running;
    await Promise.all(this.flushing);
    await this.journal.close();
  }

  private async work(): Promise<void> {
    while (this.asked.length > 0) {
      await new Promise(setImmediate);
      const batch = this.asked.splice(0);
      try {
        const results = await this.written(batch);
        this.answer(batch, results);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.running = undefined;
  }

  private answer(batch: readonly Asked[], results: readonly unknown[]): void {
    const lasting = new Map<Asked, unknown>();
    for (const [index, asked] of batch.entries()) {
      if (asked.durability === 'powerLoss') lasting.set(asked, results[index]);
      else asked.resolve(results[index]);
    }
    if (lasting.size === 0) return;
    const flushed = this.journal
      .flush()
      .then(
        () => lasting.forEach((result, { resolve }) => resolve(result)),
        (error: unknown) => lasting.forEach((_, { reject }) => reject(error)),
      )
      .finally(() => this.flushing.delete(flushed));
    this.flushing.add(flushed);
  }

  private async written(batch: readonly Asked[]): Promise<readonly unknown[]> {
    for (;;) {
      try {
        const results = await patiently('The ledger could not be written', () =>
          inTransaction(this.database, () => batch.map(({ run }) => run())),
        );
        if (this.trouble !== undefined) this.log('info', 'The ledger has room again.', {});
        this.trouble = undefined;
        return results;
      } catch (error) {
        if (this.closing || !isFull((error as Error).cause)) throw error;
        if (this.trouble === undefined)
          this.log('error', `${(error as Error).message} What is asked of it waits for that.`, {});
        this.trouble = error;
      }
      await delay(roomWaitMs);
    }
  }
}
