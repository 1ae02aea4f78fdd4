import { setTimeout as delay } from 'node:timers/promises';
import { backOff } from '../../processing/retry.js';
import type { Cluster } from '../cluster.js';
import { isPassing } from '../failure.js';

/** Not quite two seconds in all: a broker that has just started loads its coordinators, and one fenced ends its transaction. */
const retry = { initialMs: 50, maxMs: 500, attempts: 7 } as const;

/** Connects, and asks for the producer’s identity until it is given; the wait is for what passes. */
export async function initialize<T>(cluster: Cluster, ask: () => Promise<T>): Promise<T> {
  await cluster.connect();
  await cluster.refreshMetadataIfNecessary();
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error) || attempt === retry.attempts) throw error;
      await delay(backOff(attempt, retry));
    }
  }
}
