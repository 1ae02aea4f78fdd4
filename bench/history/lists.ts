import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Incoming } from '@sluice/bus';
import { Projection } from '@sluice/projection';

/** Writes the lists of a history. */
export interface Lists {
  /** Resolves once there is room for more. */
  apply(messages: readonly Incoming[]): Promise<void>;
  /** Resolves when all is written. */
  close(): Promise<void>;
}

/** In this thread. All approvals count, since none here is forged. */
export async function listsHere(file: string): Promise<Lists> {
  const projection = await Projection.open({ file });
  return {
    apply: (messages) => projection.apply(messages, () => Promise.resolve(true)),
    close: () => projection.close(),
  };
}

/** Batches that may wait for the thread. */
const mostWaiting = 4;

/** In a thread of its own: a quarter of what seeding takes. */
export function listsBeside(file: string): Lists {
  const thread = new Worker(join(import.meta.dirname, 'history-lists.js'), { workerData: file });
  let failure: Error | undefined;
  thread.once('error', (error) => (failure = error as Error));
  let waiting = 0;
  thread.on('message', () => waiting--);
  const until = async (most: number): Promise<void> => {
    while (waiting > most && failure === undefined) await once(thread, 'message');
    if (failure !== undefined) throw failure;
  };
  return {
    apply: (messages) => {
      waiting++;
      thread.postMessage(messages);
      return until(mostWaiting);
    },
    close: async () => {
      await until(0);
      thread.postMessage(null);
      await once(thread, 'exit');
    },
  };
}
