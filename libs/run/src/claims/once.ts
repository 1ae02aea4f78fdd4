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
