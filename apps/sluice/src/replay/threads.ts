import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { KeySet } from '@sluice/identity';
import type { ReplayJob, Threads } from '@sluice/replay';

/** What a thread begins with. */
export interface Given {
  readonly job: ReplayJob;
  readonly keys: KeySet | null;
}

/**
 * A thread for each core; null where there is one, since then threads only cost. `keys` are those to verify with. What the threads make is mostly thrown away at
 * once, which is cheaper with more room for it.
 */
export function threadsFor(keys: KeySet | null, count = availableParallelism()): Threads<ReplayJob> | null {
  if (count < 2) return null;
  return {
    count,
    start: (job) =>
      new Worker(new URL(`./worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url), {
        name: 'sluice-replay',
        workerData: { job, keys } satisfies Given,
        resourceLimits: { maxYoungGenerationSizeMb: 64 },
      }),
  };
}
