import type { CountedDocuments, Ledger, PastCalls, RateLimiter } from '@sluice/core';
import type { Belonging } from './belonging.js';

/** A ledger whose database also keeps what tools keep between calls. Closing the one closes the other. */
export interface DocumentedLedger extends Ledger {
  readonly documents: CountedDocuments;
}

/** The databases of a ledger, and which of them hold claims. */
export interface LedgerSpreading {
  /** By name, the first one first. `holdsClaims` is false for one that was named and not added yet. */
  list(): Promise<readonly { readonly name: string; readonly holdsClaims: boolean }[]>;
  /** Adds those that hold no claims yet; returns their names. */
  spread(): Promise<readonly string[]>;
}

/** One that is opened from where it lies. */
export interface StoredLedger extends DocumentedLedger, RateLimiter {
  readonly belonging: Belonging;
  /** Null for a file. */
  readonly spreading: LedgerSpreading | null;
  /** Calls of the past, for rules with a span. */
  readonly past: PastCalls;
}
