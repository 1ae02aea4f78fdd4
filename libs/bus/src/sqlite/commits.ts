import { isBusy } from '@sluice/sqlite';
import type { Durability } from '@sluice/core';
import type { Store } from './store.js';

interface Unit {
  readonly work: () => unknown;
  readonly durability: Durability;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How a unit goes on the log. */
interface How {
  readonly durability: Durability;
  /** So long it may wait for another unit’s transaction, milliseconds. */
  readonly patienceMs?: number;
}

/**
 * One transaction after another for all groups and publishers of the process: what is ready in the same turn of the
 * event loop shares one, since a transaction costs more than what most of them write.
 */
export class Commits {
  private ready: Unit[] = [];
  private patient: Unit[] = [];
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  /** `transaction` hears of each before it begins and once it is on the log. */
  constructor(
    private readonly store: Store,
    private readonly transaction: { begins(): void; committed(): void },
  ) {}

  /**
   * Resolves with what the work gives when it is as durable as asked. Work that throws fails alone, as if it had a
   * transaction of its own; it may run more than once, and what it did in the file before is undone then.
   */
  add<T>(work: () => T, { durability, patienceMs = 0 }: How): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const unit = { work, durability, resolve: (result: unknown) => resolve(result as T), reject };
      if (patienceMs > 0 && this.running === undefined) {
        this.patient.push(unit);
        this.timer ??= setTimeout(() => this.begin(), patienceMs);
        return;
      }
      this.ready.push(unit);
      this.begin();
    });
  }

  /** Resolves when nothing is under way or waits. */
  async idle(): Promise<void> {
    if (this.timer !== undefined) this.begin();
    while (this.running !== undefined) await this.running;
  }

  /** Begins now with what waits for another unit’s transaction. */
  begin(): void {
    this.running ??= this.run();
  }

  private async run(): Promise<void> {
    do {
      await new Promise(setImmediate);
      clearTimeout(this.timer);
      this.timer = undefined;
      const units = [...this.ready.splice(0), ...this.patient.splice(0)];
      await this.commit(units);
    } while (this.ready.length > 0);
    this.running = undefined;
  }

  private async commit(units: readonly Unit[]): Promise<void> {
    try {
      const results = await this.store.write('processLoss', () => {
        this.transaction.begins();
        return units.map(({ work }) => work());
      });
      this.transaction.committed();
      for (const [index, unit] of units.entries()) this.answer(unit, results[index]);
    } catch (error) {
      // Another process has the file: it has it for all of them.
      if (units.length === 1 || isBusy((error as Error).cause)) for (const { reject } of units) reject(error);
      else for (const unit of units) await this.commit([unit]);
    }
  }

  private answer({ durability, resolve, reject }: Unit, result: unknown): void {
    if (durability === 'processLoss') resolve(result);
    else this.store.flush().then(() => resolve(result), reject);
  }
}
