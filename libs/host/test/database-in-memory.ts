import type { CountedDocuments, StoredDocument } from '@sluice/core';

/** Documents as a database has them, and what it has. */
export function databaseInMemory(): {
  readonly stored: Map<string, StoredDocument>;
  readonly documents: CountedDocuments;
} {
  const stored = new Map<string, StoredDocument>();
  const documents: CountedDocuments = {
    find: (key) => Promise.resolve(stored.get(key)),
    put: (key, version, text, expiresAt) => {
      if ((stored.get(key)?.version ?? 0) !== version - 1) return Promise.resolve(false);
      stored.set(key, { version, text, expiresAt });
      return Promise.resolve(true);
    },
    tally: () => Promise.resolve({ count: stored.size, first: [] }),
    sweep: () => Promise.resolve(),
  };
  return { stored, documents };
}
