import { setTimeout as delay } from 'node:timers/promises';
import type { AssistantStreamChunk } from 'assistant-stream';
import type { Principal } from '@sluice/core';
import { Busy } from '@sluice/host';
import type { ListedRun, RunFilter } from '@sluice/projection';

/** So often a follower looks whether something changed. */
const lookMs = 500;
/** So often something is sent at least, for proxies that close what is silent. */
const keepAliveMs = 15_000;
/** So often the credential is looked at. */
const credentialMs = 5_000;
/** Runs that are read at a time: more than one write changes. */
const readAtOnce = 1_000;
/** Of the latest runs that a reader was sent, so many are watched for leaving its filter. */
const mostRemembered = 10_000;

/** A run, as the list has it. */
export type RunRow = Readonly<Record<string, unknown>> & { readonly request_id: string };

/** Where the stream comes from: the list under one filter. */
export interface RunChanges {
  /** The number of the latest write. */
  readonly latest: () => Promise<number>;
  /** The newest runs now, as the first page of the list has them. */
  readonly newest: () => Promise<readonly ListedRun[]>;
  /** What changed behind a write, whatever its outcome and state. */
  readonly changed: (behind: number, most: number) => Promise<readonly ListedRun[]>;
  readonly row: (run: ListedRun) => Promise<RunRow>;
  /** Whether the credential is still the reader’s. */
  readonly holds: () => Promise<boolean>;
}

/**
 * The list of runs as data of the assistant transport format: the newest ones, the oldest of them first, then each run
 * that changes, whole (`run`), and each that the filter no longer has (`left`). Ends with credential and signal.
 */
export async function* runListEvents(
  source: RunChanges,
  filter: RunFilter,
  signal: AbortSignal,
): AsyncGenerator<AssistantStreamChunk, void, undefined> {
  let seen = await source.latest();
  const sent = new Set<string>();
  let events = await eventsOf((await source.newest()).toReversed(), filter, sent, source);
  let silentMs = keepAliveMs;
  let uncheckedMs = 0;
  while (!signal.aborted) {
    if (events.length > 0 || silentMs >= keepAliveMs) {
      silentMs = 0;
      yield { type: 'data', path: [], data: events as Extract<AssistantStreamChunk, { type: 'data' }>['data'] };
    }
    await delay(lookMs, undefined, { signal }).catch(() => undefined);
    silentMs += lookMs;
    uncheckedMs += lookMs;
    if (uncheckedMs >= credentialMs) {
      uncheckedMs = 0;
      if (!(await source.holds())) return;
    }
    events = [];
    const latest = await source.latest();
    if (latest <= seen) continue;
    const changed = await source.changed(seen, readAtOnce);
    // Of a write that may have been read in part, all comes with the next look.
    const whole = changed.length < readAtOnce ? latest : (changed.at(-1)?.changed ?? latest) - 1;
    seen = whole;
    const runs = changed.filter((run) => run.changed <= whole);
    events = await eventsOf(runs, filter, sent, source);
  }
}

async function eventsOf(
  runs: readonly ListedRun[],
  { outcome, state }: RunFilter,
  sent: Set<string>,
  { row }: RunChanges,
): Promise<readonly object[]> {
  const events: object[] = [];
  for (const run of runs) {
    const isIn = (outcome ?? run.outcome) === run.outcome && (state ?? run.state) === run.state;
    const wasIn = sent.delete(run.requestId);
    if (isIn) {
      sent.add(run.requestId);
      events.push({ type: 'run', run: await row(run) });
    } else if (wasIn) events.push({ type: 'left', request_id: run.requestId });
    const [oldest] = sent;
    if (sent.size > mostRemembered && oldest !== undefined) sent.delete(oldest);
  }
  return events;
}

/** Streams of runs that one caller may have open at a time; a browser has one for each page. */
const mostOfOne = 20;

/** Who follows the list of runs through this gateway: not too many, and none of them holds up its end. */
export class RunListFollowers {
  /** With the caller of each. */
  private readonly open = new Map<AbortController, string>();
  private stopped = false;
  private looked: { readonly at: number; readonly latest: Promise<number> } | null = null;

  /** `most`: followers at a time. */
  constructor(private readonly most: number) {}

  /** As `ApprovalFollowers.follow`; a caller may have a few of them. */
  follow({ tenantId, actorId }: Pick<Principal, 'tenantId' | 'actorId'>): AbortController {
    if (this.open.size >= this.most)
      throw new Busy(`This gateway has ${this.most} streams of runs already. Try again in a moment.`);
    const owner = JSON.stringify([tenantId, actorId]);
    if ([...this.open.values()].filter((one) => one === owner).length >= mostOfOne)
      throw new Busy(`You have ${mostOfOne} streams of runs already. Close one of them.`);
    const follower = new AbortController();
    this.open.set(follower, owner);
    follower.signal.addEventListener('abort', () => this.open.delete(follower), { once: true });
    if (this.stopped) follower.abort();
    return follower;
  }

  /** The number of the latest write, read a few times a second however many follow. */
  latest(read: () => Promise<number>, now: number): Promise<number> {
    if (this.looked === null || now - this.looked.at >= lookMs / 2 || now < this.looked.at)
      this.looked = { at: now, latest: read() };
    return this.looked.latest;
  }

  close(): void {
    this.stopped = true;
    for (const follower of [...this.open.keys()]) follower.abort();
  }
}
