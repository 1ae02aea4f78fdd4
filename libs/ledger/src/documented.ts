import type { CountedDocuments, Ledger, PastCalls, RateLimiter } from '@sluice/core';
import type { Belonging } from './belonging.js';

/** A ledger whose database also keeps what tools keep between calls. Closing the one closes the other. */
export interface DocumentedLedger extends Ledger {
  readonly documents: CountedDocuments;
}

/** One that is opened from where it lies. */
export interface StoredLedger extends DocumentedLedger, RateLimiter {
  readonly belonging: Belonging;
  /** Calls of the past, for rules with a span. */
  readonly past: PastCalls;
}
