import { claimMemoryMs } from '@sluice/core';
import type { RunParts } from '../parts.js';

/** What a record finds that takes something which only the first may have. */
export interface Taken {
  /** True for the first; the same record may ask again. */
  readonly isOwn: boolean;
  /** Whether it was taken before, by this record or by another. */
  readonly isAgain: boolean;
}

export async function claimOnce(
  key: string,
  owner: string,
  { ledger, clock }: Pick<RunParts, 'ledger' | 'clock'>,
): Promise<Taken> {
  const now = clock.now();
  const claim = await ledger.claim({ key, owner, now, ttlMs: claimMemoryMs });
  return { isOwn: claim.owner === owner, isAgain: claim.claimedAt !== now };
}
