import { setTimeout as delay } from 'node:timers/promises';
import { GroupHeld } from '@sluice/bus';
import type { Bus, Consumer } from '@sluice/bus';
import { access } from '@sluice/contracts';
import type { Access } from '@sluice/contracts';
import type { Log } from './log.js';

/** How long a start waits for a former process on the same log to end, in milliseconds. */
const formerProcessMs = 5_000;

/** A process that was just asked to stop may still be ending its work: the next one waits for it a little. */
export async function inTurn<T>(log: Log, acquire: () => Promise<T>): Promise<T> {
  for (const until = performance.now() + formerProcessMs; ;) {
    try {
      return await acquire();
    } catch (error) {
      if (!(error instanceof GroupHeld) || performance.now() > until) throw error;
      log.warn(`${error.message} Waiting a little for it.`);
      await delay(1_000);
    }
  }
}

/** The group whose lease says which process runs all services of a data folder; it reads nothing. */
const allServices = 'services';

/**
 * Makes this process the one that runs all services on the embedded log, before it writes anything there; returns
 * what gives that back. Rejects with GroupHeld where another process runs them, or one of them.
 */
export async function holdDataFolder(given: {
  readonly bus: Pick<Bus, 'subscribe'>;
  readonly log: Log;
}): Promise<() => Promise<void>> {
  const hold = (group: string): Promise<Consumer> =>
    given.bus.subscribe({ group, topics: [], handle: () => Promise.resolve([]) });
  const held = await inTurn(given.log, () => hold(allServices));
  try {
    // Processes of `sluice serve`, and of former versions, hold the groups of their services alone.
    for (const { group } of Object.values<Access>(access))
      if (group !== null) await (await inTurn(given.log, () => hold(group))).stop(0);
  } catch (error) {
    await held.stop(0);
    throw error;
  }
  return () => held.stop(0);
}
