import { setTimeout as delay } from 'node:timers/promises';
import type { Runtime } from '@sluice/host';

/** What content is kept with. */
export type ContentWorld = Pick<Runtime, 'content' | 'clock' | 'environment' | 'log'>;

/** How long a step waits for the store, milliseconds. */
const mostMs = 10_000;

/** The work’s result; rejects where the store takes longer than a step waits. */
export async function inTime<T>(work: Promise<T>): Promise<T> {
  const isOver = new AbortController();
  try {
    return await Promise.race([work, delay(mostMs, null, { signal: isOver.signal }).then(tooSlow)]);
  } finally {
    isOver.abort();
  }
}

function tooSlow(): never {
  throw new Error(`It took longer than ${String(mostMs / 1_000)} s.`);
}
