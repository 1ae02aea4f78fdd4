import { claimMemoryMs } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import { claimOnce } from './once.js';
import type { OnceClaim } from './once.js';
import { claimedName } from './run-names.js';
import type { NamedRun } from './run-names.js';
import type { RunParts } from '../parts.js';

type Claiming = Pick<RunParts, 'ledger' | 'clock'>;

/** Which end it is: a run has one, and each attempt that a redrive makes has one of its own. */
interface EndOf extends NamedRun {
  /** The dead letter that the attempt began with; null for the first. */
  readonly attempt: string | null;
}

/**
 * Whether the record is the one whose handling ends the run; a later one ends nothing. It goes by the record’s place
 * on the log, and so need not be on the disk before that is.
 */
export async function claimEnd(end: EndOf, owner: string, runtime: Claiming): Promise<OnceClaim> {
  return claimOnce(await endKey(end, runtime), owner, runtime, 'processLoss');
}

const onLog = 'published';

/** Says that the end is on the log, once it is. If that is cut off, who asks looks on the log. */
export async function keepPublished(end: EndOf, owner: string, runtime: Claiming): Promise<void> {
  try {
    await runtime.ledger.settle(await endKey(end, runtime), owner, onLog, 'processLoss');
  } catch {
    // The ledger is away, or closed.
  }
}

/** The record that ended the run, by its place, if its end is known to be on the log. */
export async function publishedEnd(end: EndOf, runtime: Claiming): Promise<string | null> {
  const claim = await runtime.ledger.find(await endKey(end, runtime));
  return claim?.value === onLog ? claim.owner : null;
}

/** Whether a record has ended the run, or is about to. */
export async function hasEnded(end: EndOf, runtime: Claiming): Promise<boolean> {
  return (await enderOfRun(end, runtime)) !== null;
}

/** The record that has ended the run, or is about to, by its place; null while none is. */
export async function enderOfRun(end: EndOf, runtime: Claiming): Promise<string | null> {
  const { ledger, clock } = runtime;
  const claim = await ledger.find(await endKey(end, runtime));
  return claim !== undefined && claim.expiresAt > clock.now() ? claim.owner : null;
}

async function endKey({ attempt, ...run }: EndOf, runtime: Claiming): Promise<string> {
  const name = await claimedName(run, runtime);
  return attempt === null ? `end/${name}` : `end/${name}/${attempt}`;
}

/** A record that was quarantined, by the turn that it says it is of. */
interface QuarantinedTurn extends NamedRun {
  readonly topic: Topic;
  readonly iteration: number;
}

/** Keeps that a record of the turn was quarantined, so that the run’s end can say so. */
export async function keepQuarantined(turn: QuarantinedTurn, place: string, runtime: Claiming): Promise<void> {
  const { ledger, clock } = runtime;
  const key = await quarantineKey(turn, runtime);
  await ledger.claim({ key, owner: place, now: clock.now(), ttlMs: claimMemoryMs });
}

/** Where the first record of the turn stands that was quarantined; null if none was. */
export async function quarantinedAt(turn: QuarantinedTurn, runtime: Claiming): Promise<string | null> {
  const { ledger, clock } = runtime;
  const claim = await ledger.find(await quarantineKey(turn, runtime));
  return claim !== undefined && claim.expiresAt > clock.now() ? claim.owner : null;
}

/** What a forger writes as an id may be long. */
async function quarantineKey({ topic, iteration, ...run }: QuarantinedTurn, runtime: Claiming): Promise<string> {
  return `quarantined/${topic}/${sha256(await claimedName(run, runtime))}/${iteration}`;
}
