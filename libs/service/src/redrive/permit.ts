import type { Ledger } from '@sluice/core';
import type { Permit } from '@sluice/decisions';

export function permitKey(deadLetter: string): string {
  return `redrive/${deadLetter}`;
}

/** The permit of a dead letter; null if there is none, or none that was made to the end. */
export async function permitOf(deadLetter: string, ledger: Pick<Ledger, 'find'>): Promise<Permit | null> {
  const claim = await ledger.find(permitKey(deadLetter));
  return claim === undefined || claim.value === null ? null : (JSON.parse(claim.value) as Permit);
}
