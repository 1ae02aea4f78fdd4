import { Fault } from '@sluice/core';
import type { BusLog } from '../port.js';
import { backOff, pause } from '../processing/retry.js';

const waits = { initialMs: 250, maxMs: 10_000 };
/** How often it is said again that something is still not there, milliseconds. */
const remindMs = 60_000;

interface RetryUntilThereOptions {
  readonly log: BusLog;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

/**
 * Tries until it works, saying so once in a while. Throws a Fault that cannot pass at once, and the last one if
 * `signal` aborts.
 */
export async function retryUntilThere<T>(work: () => Promise<T>, { log, signal }: RetryUntilThereOptions): Promise<T> {
  let said = -Infinity;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Fault && error.retryable)) throw error;
      if (signal.aborted) throw error;
      const now = performance.now();
      if (now - said >= remindMs) {
        said = now;
        log('warn', `${error.message} It is tried again until it works.`, { attempt });
      }
      if (!(await pause(backOff(attempt, waits), signal))) throw error;
    }
  }
}
