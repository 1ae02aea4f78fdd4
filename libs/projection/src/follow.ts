import { setTimeout as delay } from 'node:timers/promises';
import { storyTopics, topics } from '@sluice/contracts';
import type { Incoming, LogReader } from '@sluice/bus';
import type { Counts } from './approvals.js';
import type { RunCost } from './changes.js';
import type { Projection } from './projection.js';

const batchRecords = 500;
/** Of runs that go on meanwhile: the event loop stands still for a batch in a file. */
const liveRecords = 100;
/** So long records are gathered before they are written, milliseconds; docs/http.md says so. */
const gatherMs = 100;
const againAfterMs = 1_000;

const listedTopics = [...storyTopics, topics.audit, topics.deadLetters] as const;
/** All but approvals, which only who has the ledger can tell. */
const rebuiltTopics = listedTopics.filter((topic) => topic !== topics.approvals);

/** Gives the costs of runs once the configurations that these records name are there, as far as they can be had. */
export type Costs = (messages: readonly Incoming[]) => Promise<RunCost>;

interface Following {
  readonly bus: LogReader;
  /** Which records of agent.approvals are an executor’s. */
  readonly counts: Counts;
  /** What runs cost, under the configurations that these records name. */
  readonly costs: Costs;
  readonly signal: AbortSignal;
  readonly onFailure: (error: unknown) => void;
}

/** Brings the projection up to the log’s end as it is now, but for approvals; returns how many records were read. */
export async function catchUp(
  projection: Projection,
  { bus, costs, signal }: Pick<Following, 'bus' | 'costs' | 'signal'>,
): Promise<number> {
  let batch: Incoming[] = [];
  let count = 0;
  const reading = { from: await projection.position(), signal, onUndecodable: () => undefined };
  for await (const message of bus.read(rebuiltTopics, reading)) {
    count++;
    batch.push(message);
    if (batch.length < batchRecords) continue;
    await projection.apply(batch, nothing, await costs(batch));
    batch = [];
  }
  await projection.apply(batch, nothing, await costs(batch));
  return count;
}

const nothing: Counts = () => Promise.resolve(false);

/** Keeps the projection at the log’s end until the signal; what fails is reported and tried again. */
export async function follow(projection: Projection, following: Following): Promise<void> {
  const { signal, onFailure } = following;
  while (!signal.aborted) {
    try {
      await followAlone(projection, following);
    } catch (error) {
      if (signal.aborted) return;
      onFailure(error);
      await delay(againAfterMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Of instances with one projection, one follows. */
async function followAlone(projection: Projection, following: Following): Promise<void> {
  const lost = new AbortController();
  const end = await projection.lead(following.signal, (error) => lost.abort(error));
  try {
    await followOn(projection, { ...following, signal: AbortSignal.any([following.signal, lost.signal]) });
  } finally {
    await end();
  }
  if (lost.signal.aborted) throw lost.signal.reason;
}

async function followOn(projection: Projection, { bus, counts, costs, signal }: Following): Promise<void> {
  const failed = new AbortController();
  const ending = AbortSignal.any([signal, failed.signal]);
  const waiting: Incoming[] = [];
  let writing: Promise<void> | undefined;
  const write = async (): Promise<void> => {
    await delay(gatherMs, undefined, { signal }).catch(() => undefined);
    while (waiting.length > 0) {
      const batch = waiting.splice(0, liveRecords);
      await projection.apply(batch, counts, await costs(batch));
      await new Promise(setImmediate);
    }
  };
  const reading = { from: await projection.position(), follow: true, signal: ending, onUndecodable: () => undefined };
  for await (const message of bus.read(listedTopics, reading)) {
    waiting.push(message);
    writing ??= write()
      .catch((error: unknown) => failed.abort(error))
      .finally(() => (writing = undefined));
    if (waiting.length >= 4 * batchRecords) await writing;
  }
  await writing;
  if (failed.signal.aborted) throw failed.signal.reason;
}
