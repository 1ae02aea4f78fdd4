import { cancelOf } from '@sluice/run';
import type { Cancelled } from '@sluice/run';
import type { Runtime } from '../runtime.js';

/** For work that ends sooner it never looks, in milliseconds. */
const firstLookMs = 100;
const longestMs = 1_000;

/**
 * Calls `cancel` once the run is cancelled; returns what stops looking. A ledger out of reach says nothing: the work
 * then ends by itself.
 */
export function lookForCancel(
  run: Parameters<typeof cancelOf>[0],
  runtime: Pick<Runtime, 'ledger' | 'clock' | 'log'>,
  cancel: (cancelled: Cancelled) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const lookIn = (milliseconds: number): void => {
    timer = setTimeout(() => void look(milliseconds), milliseconds);
    timer.unref();
  };
  const look = async (waited: number): Promise<void> => {
    try {
      const cancelled = await cancelOf(run, runtime);
      if (isStopped) return;
      if (cancelled !== null) return cancel(cancelled);
    } catch (error) {
      runtime.log.debug({ error: (error as Error).message }, 'whether a run is cancelled could not be looked up');
    }
    if (!isStopped) lookIn(Math.min(2 * waited, longestMs));
  };
  lookIn(firstLookMs);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
