import type { DeadLetters, RunRecords } from './run-records.js';

/** What is done with each run: what it finds goes to `found`, one after another. */
export type RunWork<R> = (run: RunRecords, dead: DeadLetters, found: R[]) => Promise<void>;

/** What was found in a run, up to a failure if there was one. */
export interface Done<R> {
  readonly found: readonly R[];
  readonly failure: { readonly error: unknown } | null;
}

export async function perform<R>(work: RunWork<R>, run: RunRecords, dead: DeadLetters): Promise<Done<R>> {
  const found: R[] = [];
  try {
    await work(run, dead, found);
    return { found, failure: null };
  } catch (error) {
    return { found, failure: { error } };
  }
}

/** What was found, then the failure. */
export function* found<R>(done: Done<R>): Generator<R, void, undefined> {
  yield* done.found;
  if (done.failure !== null) throw done.failure.error;
}
