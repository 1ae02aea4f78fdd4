import type { Verifier } from '@sluice/core';
import { createVerifier, readingUnknown, unverified } from '@sluice/identity';
import type { KeySet } from '@sluice/identity';

export interface ReplayKeys {
  /** Null: what was signed is read, and only compared. */
  readonly keys: KeySet | null;
  /** Whether what a key signed that is not here is read as well: an export may be of another installation. */
  readonly readsUnknown: boolean;
}

export function verifierFor({ keys, readsUnknown }: ReplayKeys): Verifier {
  if (keys === null) return unverified;
  return readsUnknown ? readingUnknown(createVerifier(keys)) : createVerifier(keys);
}
