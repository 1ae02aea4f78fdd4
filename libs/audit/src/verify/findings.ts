import type { JsonValue } from '@sluice/core';

/** What can be wrong with an audit log. */
export const findingKinds = {
  changed: 'The record is not what was written.',
  dropped: 'Records that were written are not there.',
  inserted: 'The record was not written by the audit, or is a copy.',
  moved: 'The record stands in another place than it was written to.',
  rewritten: 'What the audit signed is not what stands there, though the hashes agree: they were computed again.',
  forged: 'A checkpoint that the audit did not sign.',
  unknown_key: 'Signed by a key that you do not have, so it cannot be verified here.',
  undecodable: 'The record cannot be read any more.',
  source_changed: 'A record has changed since its entry was written.',
  source_dropped:
    'A record with an entry is missing, though records around it are there or its topic is kept for ever.',
  source_untold: 'A record was skipped: no entry stands for it.',
  configuration_refused:
    'A configuration that services refuse, since its writer has no key of the role `config`, or a part of one that is not what its name says.',
} as const satisfies Record<string, string>;

type FindingKind = keyof typeof findingKinds;

/** Where a record stands on agent.audit. */
export interface AuditPosition {
  readonly partition: number;
  readonly offset: number;
}

/** A run that a finding is about; its parts are empty, or null, where no record says them. */
export interface FoundRun {
  readonly requestId: string;
  readonly sessionId: string;
  readonly tenant: string | null;
}

/** What was written, and what stands there; null where there is nothing, or nothing is known. */
export interface Difference {
  /** The entry of the chain; null where there is none. */
  readonly entry: number | null;
  /** A member of the entry, or `details.` and a member of its details. */
  readonly field: string;
  readonly was: JsonValue;
  readonly is: JsonValue;
}

export interface Finding {
  readonly kind: FindingKind;
  readonly chain: string;
  /**
   * The entries of the chain that it is about: one, or the first and the last of several; null where no entry is
   * meant.
   */
  readonly entries: { readonly first: number; readonly last: number } | null;
  /** The record it was found at; null where none is left. */
  readonly place: AuditPosition | null;
  /** The offset in the source’s partition, for what is about sources. */
  readonly sourceOffset: number | null;
  /** A sentence with what is known beyond the kind; may be empty. */
  readonly what: string;
  /** The first twenty. */
  readonly runs: readonly FoundRun[];
  /** The first twenty. */
  readonly differences: readonly Difference[];
}

/** What is known of a chain in the end. */
export interface ChainReport {
  readonly chain: string;
  readonly entries: number;
  /** The last sequence. */
  readonly sequence: number;
  readonly head: string;
  /** Entries up to this sequence are sealed by a checkpoint that was found genuine; 0 if none are. */
  readonly sealed: number;
  readonly checkpoints: number;
  /**
   * Records of its source that have no entry yet, and since when the oldest is there, milliseconds since the epoch; 0
   * and null if that was not compared.
   */
  readonly waiting: number;
  readonly waitingSince: number | null;
}

/** The findings, up to a number; all are counted. */
export class Findings {
  readonly list: Finding[] = [];
  private _count = 0;

  constructor(private readonly most = 1_000) {}

  get count(): number {
    return this._count;
  }

  add(kind: FindingKind, chain: string, about: Partial<Omit<Finding, 'kind' | 'chain'>>): void {
    this._count++;
    if (this.list.length >= this.most) return;
    this.list.push({
      kind,
      chain,
      entries: null,
      place: null,
      sourceOffset: null,
      what: '',
      runs: [],
      differences: [],
      ...about,
    });
  }
}

export function entry(sequence: number): { readonly first: number; readonly last: number } {
  return { first: sequence, last: sequence };
}
