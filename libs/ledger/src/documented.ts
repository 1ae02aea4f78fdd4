import type { Documents, Ledger } from '@sluice/core';

/** A ledger whose database also keeps what tools keep between calls. Closing the one closes the other. */
export interface DocumentedLedger extends Ledger {
  readonly documents: Documents;
}
