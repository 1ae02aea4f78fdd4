import { claimMemoryMs } from '@sluice/core';
import type { Claim, Durability } from '@sluice/core';
import type { RunParts } from '../parts.js';

/** A claim that only the first record gets, as a record finds it. */
export interface OnceClaim extends Claim {
  /** True for the first; the same record may ask again. */
  readonly isOwn: boolean;
  /** Whether it was claimed before, by this record or by another. */
  readonly isAgain: boolean;
}

export async function claimOnce(
  key: string,
  owner: string,
  { ledger, clock }: Pick<RunParts, 'ledger' | 'clock'>,
  durability: Durability = 'powerLoss',
): Promise<OnceClaim> {
  const now = clock.now();
  const claim = await ledger.claim({ key, owner, now, ttlMs: claimMemoryMs, durability });
  return { ...claim, isOwn: claim.owner === owner, isAgain: claim.claimedAt !== now };
}

/** Keeps a value under the key. The first one stays: returns the claim with what is in force. */
export async function keepOnce(
  key: string,
  owner: string,
  value: string,
  { ledger, clock }: Pick<RunParts, 'ledger' | 'clock'>,
  durability: Durability = 'powerLoss',
): Promise<Claim> {
  const claim = await ledger.claim({ key, owner, now: clock.now(), ttlMs: claimMemoryMs, value, durability });
  // Former instances write the value behind the claim, and may have been cut off in between.
  return claim.value === null && claim.owner === owner ? ledger.settle(key, owner, value, durability) : claim;
}
