import type { DatabaseSync } from 'node:sqlite';
import type { Documents } from '@sluice/core';

/** The documents beside the claims; `write` and `read` are the ledger’s own ways to its file. */
export function documentsOn(
  database: DatabaseSync,
  ways: {
    readonly write: <T>(work: () => T) => Promise<T>;
    readonly read: <T>(work: () => T) => Promise<T>;
  },
): Documents {
  const find = database.prepare('SELECT version, text FROM documents WHERE key = ?');
  const put = database.prepare(`
    INSERT INTO documents (key, version, text) SELECT :key, :version, :text
    WHERE :version = 1 OR EXISTS (SELECT 1 FROM documents WHERE key = :key)
    ON CONFLICT (key) DO UPDATE SET version = excluded.version, text = excluded.text
    WHERE version = excluded.version - 1 OR (version = excluded.version AND text = excluded.text)
  `);
  return {
    find: (key) =>
      ways.read(() => {
        const row = find.get(key);
        return row && { version: row['version'] as number, text: row['text'] as string };
      }),
    put: (key, version, text) => ways.write(() => put.run({ key, version, text }).changes > 0),
  };
}
