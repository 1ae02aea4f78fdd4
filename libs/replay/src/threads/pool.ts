import type { Worker } from 'node:worker_threads';
import type { Done } from '../work.js';
import type { Packed } from './packing.js';
import type { Said } from './serve.js';

/** Packages that a thread has at a time: the next is there when one is done. */
const perThread = 2;

interface Waiting<R> {
  resolve(done: readonly Done<R>[]): void;
  reject(error: Error): void;
}

/** Threads that all do the same work on what they are sent; it is a failure of all if one of them fails. */
export class Pool<R> {
  private readonly threads: readonly { readonly worker: Worker; readonly waiting: Waiting<R>[] }[];
  private failed: Error | undefined;
  /** How many threads are there. */
  private there = 0;

  constructor(workers: readonly Worker[]) {
    this.threads = workers.map((worker) => {
      const waiting: Waiting<R>[] = [];
      worker.on('message', (said: Said<R>) => {
        if (said === 'ready') this.there++;
        else waiting.shift()?.resolve(said);
      });
      worker.on('error', (error) => this.fail(error as Error));
      worker.on('exit', () => this.fail(new Error('A thread of the replay has ended before its work was done.')));
      return { worker, waiting };
    });
  }

  /** Whether all of them can be sent something; throws what one failed with. */
  isReady(): boolean {
    if (this.failed !== undefined) throw this.failed;
    return this.there === this.threads.length;
  }

  /** How many packages it is worth to have on the way. */
  get room(): number {
    return perThread * this.threads.length;
  }

  /** To the thread that has least to do. Rejects if a thread failed or was ended. */
  send(packed: Packed): Promise<readonly Done<R>[]> {
    const [idlest] = this.threads.toSorted((one, other) => one.waiting.length - other.waiting.length);
    const sent = new Promise<readonly Done<R>[]>((resolve, reject) => {
      if (this.failed !== undefined) reject(this.failed);
      else idlest?.waiting.push({ resolve, reject });
    });
    idlest?.worker.postMessage(packed, [packed.bytes.buffer]);
    // The caller that awaits it gets the error, in its order.
    sent.catch(() => undefined);
    return sent;
  }

  /** Ends the threads, whatever they are at. */
  async close(): Promise<void> {
    this.fail(new Error('The replay was ended.'));
    await Promise.all(this.threads.map(({ worker }) => worker.terminate()));
  }

  private fail(error: Error): void {
    this.failed ??= error;
    for (const { waiting } of this.threads) for (const { reject } of waiting.splice(0)) reject(this.failed);
  }
}
