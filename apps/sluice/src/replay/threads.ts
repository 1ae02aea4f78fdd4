import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { ReplayJob, Threads } from '@sluice/replay';
import type { ReplayKeys } from './verifier-for.js';

/** What a thread begins with. */
export interface Given extends ReplayKeys {
  readonly job: ReplayJob;
}

/** The worker beside this file: `.ts` where the sources run as they are, `.js` once built. */
const program = new URL(`./worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

/**
 * A thread for each core, which verifies with the keys if there are any; null where there is one core, since there
 * threads only cost.
 */
export function threadsFor(keys: ReplayKeys): Threads<ReplayJob> | null {
  const count = availableParallelism();
  if (count < 2) return null;
  return {
    count,
    start: (job) => new Worker(program, { name: 'sluice-replay', workerData: { job, ...keys } satisfies Given }),
  };
}
