import type { MessagePort } from 'node:worker_threads';
import { codecForComparing } from '../codec.js';
import { perform } from '../work.js';
import type { Done, RunWork } from '../work.js';
import { unpack } from './packing.js';
import type { Packed } from './packing.js';

/**
 * What a thread says: that it is there, then what it found in each package, run by run, in the order in which they
 * came.
 */
export type Said<R> = 'ready' | readonly Done<R>[];

/** Does the work on whatever comes through the port. */
export async function serve<R>(port: MessagePort, work: RunWork<R>): Promise<void> {
  const codec = await codecForComparing();
  const workOn = async (packed: Packed): Promise<void> => {
    const all: Done<R>[] = [];
    for (const { run, dead } of unpack(packed, codec)) {
      const { found, failure } = await perform(work, run, dead);
      all.push({ found, failure: failure === null ? null : { error: onTheWay(failure.error) } });
      if (failure !== null) break;
    }
    port.postMessage(all satisfies Said<R>);
  };
  let before = Promise.resolve();
  port.on('message', (packed: Packed) => {
    before = before.then(() => workOn(packed));
  });
  port.postMessage('ready' satisfies Said<R>);
}

/** Not all that an error can carry goes from thread to thread; what is shown of it does. */
function onTheWay(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const plain = new Error(error.message);
  if (error.stack !== undefined) plain.stack = error.stack;
  return plain;
}
