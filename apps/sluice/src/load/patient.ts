import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '@sluice/core';
import type { Bus, Outgoing } from '@sluice/bus';

/** How long a log that takes nothing is tried, and how long between two tries, in milliseconds. */
const patienceMs = 60_000;
const againMs = 500;

/**
 * Publishes as an upstream system does: a broker that goes, or hands over, is no end of a load. What had arrived all
 * the same is dropped by its id. Rejects with the Fault if trying again does not help, for a minute, or once the
 * signal is there.
 */
export async function publishPatiently(
  bus: Pick<Bus, 'publish'>,
  messages: readonly Outgoing[],
  signal: AbortSignal,
): Promise<void> {
  for (const until = performance.now() + patienceMs; ;) {
    try {
      return await bus.publish(messages);
    } catch (error) {
      if (!(error instanceof Fault && error.retryable) || performance.now() > until || signal.aborted) throw error;
      await delay(againMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
