import { setTimeout as delay } from 'node:timers/promises';
import { backOff } from '../../processing/retry.js';
import { isRetriable } from '../kafkajs/failure.js';

/** The first waits are short, because the markers of the transaction before take milliseconds. */
const waits = { initialMs: 5, maxMs: 1_000 } as const;

/** How often something is asked: all waits together take about five seconds, or nine. */
export const attempts = { brief: 13, patient: 17 } as const;

/** Asks until it is answered, as long as what is in the way may pass; `before` each time but the first. */
export async function untilItPasses<T>(
  most: number,
  ask: () => Promise<T>,
  before: (error: unknown) => Promise<void> = () => Promise.resolve(),
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (!isRetriable(error) || attempt === most) throw error;
      await delay(backOff(attempt, waits));
      await before(error);
    }
  }
}
