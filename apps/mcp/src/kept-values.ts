import type { Clock, CountedDocuments, StoredDocument } from '@sluice/core';

/** What keeps values: the ledger’s database, so that any replica finds them. */
export interface Keeping {
  readonly documents: CountedDocuments;
  readonly clock: Clock;
}

/** A value of JSON as it is kept. */
export interface Kept<T> {
  readonly value: T;
  readonly version: number;
  readonly expiresAt: number;
}

/** The value under the key; null where there is none, or it has expired. */
export async function keptValue<T>({ documents, clock }: Keeping, key: string): Promise<Kept<T> | null> {
  const found = await documents.find(key);
  if (!isKept(found, clock.now())) return null;
  return { value: JSON.parse(found.text) as T, version: found.version, expiresAt: found.expiresAt };
}

/**
 * Changes the value under the key, for so many milliseconds; `change` is called again where another replica was
 * faster, and leaves everything as it is by null. Returns what is kept now; null where nothing was changed.
 */
export async function changeValue<T>(
  { documents, clock }: Keeping,
  key: string,
  keptMs: number,
  change: (before: T | null) => T | null,
): Promise<T | null> {
  for (;;) {
    const found = await documents.find(key);
    const now = clock.now();
    const next = change(isKept(found, now) ? (JSON.parse(found.text) as T) : null);
    if (next === null) return null;
    if (await documents.put(key, (found?.version ?? 0) + 1, JSON.stringify(next), now + keptMs)) return next;
  }
}

/**
 * Puts off when what is under the key goes, if it is there. Nothing is written where it is kept for so long already,
 * but for `spareMs`.
 */
export async function prolong(
  { documents, clock }: Keeping,
  key: string,
  keptMs: number,
  spareMs: number,
): Promise<void> {
  const found = await documents.find(key);
  const until = clock.now() + keptMs;
  if (!isKept(found, clock.now()) || found.expiresAt >= until - spareMs) return;
  await documents.put(key, found.version, found.text, until);
}

function isKept(
  found: StoredDocument | undefined,
  now: number,
): found is StoredDocument & { readonly expiresAt: number } {
  return found !== undefined && found.expiresAt !== null && found.expiresAt > now;
}
