import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { LogReader, ReadOptions } from '@sluice/bus';
import { codecForComparing } from './codec.js';
import { readRuns, recordsOf } from './runs.js';
import type { DecisionSelection } from './select.js';
import { Pool } from './threads/pool.js';
import { Spread } from './threads/spread.js';
import { found, perform } from './work.js';
import type { RunWork } from './work.js';

/** Threads that work beside this one. */
export interface Threads<Job> {
  readonly count: number;
  /** Begins one that serves the job (`serveReplay`). */
  start(job: Job): Worker;
}

export interface Reading {
  readonly selection: DecisionSelection;
  readonly signal: AbortSignal;
  readonly onUndecodable: NonNullable<ReadOptions['onUndecodable']>;
}

/** Decisions that are made before threads are begun: what takes less than that is over before they are there. */
const decisionsAlone = 2_000;

/**
 * Does the work on each run that has selected decisions, and gives what it finds in the order of one thread. Without
 * threads, for little, and until they are there, it is done here. Memory is bounded: where the threads are slower,
 * reading waits. Ends early, without an error, where the signal aborts.
 */
export async function* overRuns<R>(
  reader: LogReader,
  { selection, signal, onUndecodable: tell }: Reading,
  work: RunWork<R>,
  threads: Threads<void> | null,
): AsyncGenerator<R, void, undefined> {
  const codec = await codecForComparing();
  let alone = 0;
  let pool = null as Pool<R> | null;
  let spread = null as Spread<R> | null;
  const onUndecodable: Reading['onUndecodable'] = (place, reason) => {
    if (spread === null) tell(place, reason);
    else spread.tell(() => tell(place, reason));
  };
  const stop = (): void => void pool?.close();
  signal.addEventListener('abort', stop);
  try {
    const runs = readRuns(reader, { selection, signal, onUndecodable });
    for await (const { run, dead } of runs) {
      if (spread === null && pool?.isReady() === true) spread = new Spread(pool);
      if (spread !== null) {
        spread.add(run, dead);
        yield* spread.taken();
        continue;
      }
      yield* found(await perform(work, recordsOf(run.requestId, run.messages, codec), dead));
      alone += run.selected;
      // Runs that are in memory already are never waited for, and who never waits hears neither of threads nor that
      // he is to stop.
      await setImmediate();
      if (signal.aborted) return;
      if (threads !== null && alone >= decisionsAlone)
        pool ??= new Pool(Array.from({ length: threads.count }, () => threads.start()));
    }
    if (spread !== null) yield* spread.all();
  } catch (error) {
    if (signal.aborted) return;
    // Where reading failed, what was found before it comes first.
    if (spread !== null) yield* spread.all();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    await pool?.close();
  }
}

/** Threads that all have the job. */
export function startingWith<Job>({ count, start }: Threads<Job>, job: Job): Threads<void> {
  return { count, start: () => start(job) };
}
