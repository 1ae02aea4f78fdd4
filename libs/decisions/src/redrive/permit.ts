import { canonicalJson, essence } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import { recordNames, recordToJson, sha256 } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';

/**
 * How a dead letter goes on. `attempt`: its run had ended with it, and begins once more there. `again`: likewise, with the turn that the
 * filter granted, which goes back to the filter. `resume`: its run had not ended, and the record is taken as if it came now.
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
  const json = JSON.stringify(essence(recordToJson(recordNames[topic], record)), (_, value: unknown) => said(value));
  return sha256(canonicalJson(JSON.parse(json) as JsonValue));
}

/** Without what says nothing, such as a member that a later version adds. */
function said(value: unknown): unknown {
  const saysNothing = value === '' || value === 0 || (Array.isArray(value) && value.length === 0);
  return saysNothing ? undefined : value;
}
