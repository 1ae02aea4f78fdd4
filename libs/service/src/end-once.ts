import { claimMemoryMs } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { Runtime } from './runtime.js';

type Claiming = Pick<Runtime, 'ledger' | 'clock'>;

/** Which end it is: a run has one, and each attempt that a redrive makes has one of its own. */
export interface EndOf {
  readonly requestId: string;
  /** The dead letter that the attempt began with; null for the first. */
  readonly attempt: string | null;
}

/** True for the one record whose handling ends the run; the same record may ask again. A later one ends nothing. */
export async function claimEnd(end: EndOf, owner: string, { ledger, clock }: Claiming): Promise<boolean> {
  const claim = await ledger.claim({ key: endKey(end), owner, now: clock.now(), ttlMs: claimMemoryMs });
  return claim.owner === owner;
}

/** Whether a record has ended the run, or is about to. */
export async function hasEnded(end: EndOf, { ledger, clock }: Claiming): Promise<boolean> {
  const claim = await ledger.find(endKey(end));
  return claim !== undefined && claim.expiresAt > clock.now();
}

function endKey({ requestId, attempt }: EndOf): string {
  return attempt === null ? `end/${requestId}` : `end/${requestId}/${attempt}`;
}

/** A record that was quarantined, by the turn that it says it is of. */
export interface QuarantinedTurn {
  readonly topic: Topic;
  readonly requestId: string;
  readonly iteration: number;
}

/** Keeps that a record of the turn was quarantined, so that the run’s end can say so. */
export async function keepQuarantined(
  turn: QuarantinedTurn,
  place: string,
  { ledger, clock }: Claiming,
): Promise<void> {
  await ledger.claim({ key: quarantineKey(turn), owner: place, now: clock.now(), ttlMs: claimMemoryMs });
}

/** Where the first record of the turn stands that was quarantined; null if none was. */
export async function quarantinedAt(turn: QuarantinedTurn, { ledger, clock }: Claiming): Promise<string | null> {
  const claim = await ledger.find(quarantineKey(turn));
  return claim !== undefined && claim.expiresAt > clock.now() ? claim.owner : null;
}

/** What a forger writes as an id may be long. */
function quarantineKey({ topic, requestId, iteration }: QuarantinedTurn): string {
  return `quarantined/${topic}/${sha256(requestId)}/${iteration}`;
}
