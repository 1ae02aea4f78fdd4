import type { Ledger } from '@sluice/core';
import { recordNames } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { digestOfRecord } from '../claims/vouched.js';

/**
 * How a dead letter goes on. `attempt`: its run had ended with it, and begins once more there. `again`: likewise,
 * with the turn that the filter granted, which goes back to the filter. `resume`: its run had not ended, and the
 * record is taken as if it came now.
 */
export type RedriveKind = 'attempt' | 'again' | 'resume';

/** What the ledger keeps of a redrive: who made it, and which record may go on in whose place. */
export interface Permit {
  readonly kind: RedriveKind;
  /** Where the first dead-lettered record stood, as the owner of what its run has claimed. */
  readonly owner: string;
  /** When the log took that record, milliseconds since the epoch: nothing of the run’s last turn was done before. */
  readonly since: number;
  /** Of the record that was published: no other may use the permit. */
  readonly digest: string;
  readonly by: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The same for the same record, whichever version of the schema it was read with. */
export function digestOf({ topic, record }: Pick<Incoming, 'topic' | 'record'>): string {
  return digestOfRecord(recordNames[topic], record);
}

export function permitKey(deadLetter: string): string {
  return `redrive/${deadLetter}`;
}

/** The permit of a dead letter; null if there is none, or none that was made to the end. */
export async function permitOf(deadLetter: string, ledger: Pick<Ledger, 'find'>): Promise<Permit | null> {
  const claim = await ledger.find(permitKey(deadLetter));
  return claim === undefined || claim.value === null ? null : (JSON.parse(claim.value) as Permit);
}
