import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { inTransaction, isFull } from '@sluice/sqlite';
import type { LedgerLog } from '../ledger-log.js';
import { patiently } from './storage-error.js';

/** How often a write is tried while there is no room for it, milliseconds. */
const roomWaitMs = 200;

interface Asked {
  readonly run: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What is asked in one turn of the event loop goes to the disk in one transaction, in the order in which it was
 * asked. While the disk is full it waits for room: a claim that is refused would end a run for something that passes.
 */
export class Batch {
  private asked: Asked[] = [];
  private running: Promise<void> | undefined;
  private closing = false;
  private trouble: unknown;

  constructor(
    private readonly database: DatabaseSync,
    private readonly log: LedgerLog,
  ) {}

  /**
   * Resolves when the result is on the disk. Rejects with Fault('ledger_unreachable'); nothing of the batch is there
   * then.
   */
  run<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.asked.push({ run: work, resolve: (result) => resolve(result as T), reject });
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
  }

  private async work(): Promise<void> {
    while (this.asked.length > 0) {
      await new Promise(setImmediate);
      const batch = this.asked.splice(0);
      try {
        const results = await this.written(batch);
        batch.forEach(({ resolve }, index) => resolve(results[index]));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.running = undefined;
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
