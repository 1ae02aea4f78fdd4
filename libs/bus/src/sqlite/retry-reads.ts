import { Fault } from '@sluice/core';
import { isBusy, isSqliteError } from '@sluice/sqlite';
import type { BusLog } from '../port.js';
import { backOff, pause } from '../processing/retry.js';
import { storageFault } from './storage-error.js';

const readRetry = { initialMs: 5, maxMs: 2_000 };

/** Reads for a consumer: what the storage refuses now is tried again for as long as the consumer works. */
export class ReadRetry {
  private _trouble: string | undefined;

  constructor(
    private readonly group: string,
    private readonly log: BusLog,
    private readonly stopping: AbortSignal,
  ) {}

  /** Why nothing can be read now; undefined if it can. */
  get trouble(): string | undefined {
    return this._trouble;
  }

  /** The result, or null when the consumer is to stop. Throws what will not pass. */
  async until<T>(work: () => T | Promise<T>): Promise<T | null> {
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await work();
        this._trouble = undefined;
        return result;
      } catch (error) {
        if (this.stopping.aborted) return null;
        if (!isSqliteError(error) && !(error instanceof Fault && error.retryable)) throw error;
        if (!isBusy(error)) this.report(storageFault('The log could not be read', error) as Fault);
        if (!(await pause(backOff(attempt, readRetry), this.stopping))) return null;
      }
    }
  }

  private report(fault: Fault): void {
    if (this._trouble === undefined) this.log('error', `${fault.message} It is tried again.`, { group: this.group });
    this._trouble = fault.message;
  }
}
