import type { DatabaseSync } from 'node:sqlite';
import type { Documents } from '@sluice/core';
import { expired, inPortions } from './portions.js';
import { storedKey } from './stored-key.js';

/** The documents beside the claims; `write` and `read` are the ledger’s own ways to its file. */
export function documentsOn(
  database: DatabaseSync,
  ways: {
    readonly write: <T>(work: () => T) => Promise<T>;
    readonly read: <T>(work: () => T) => Promise<T>;
  },
): Documents {
  const find = database.prepare('SELECT version, text, expires_at FROM documents WHERE key = ?');
  const put = database.prepare(`
    INSERT INTO documents (key, version, text, expires_at) SELECT :key, :version, :text, :expiresAt
    WHERE :version = 1 OR EXISTS (SELECT 1 FROM documents WHERE key = :key)
    ON CONFLICT (key) DO UPDATE SET version = excluded.version, text = excluded.text, expires_at = excluded.expires_at
    WHERE version = excluded.version - 1 OR (version = excluded.version AND text = excluded.text)
  `);
  const sweep = database.prepare(`DELETE FROM documents WHERE key IN (${expired('documents', 'expires_at')})`);
  return {
    find: (key) =>
      ways.read(() => {
        const row = find.get(storedKey(key));
        return (
          row && {
            version: row['version'] as number,
            text: row['text'] as string,
            expiresAt: row['expires_at'] as number | null,
          }
        );
      }),
    put: (key, version, text, expiresAt) =>
      ways.write(() => put.run({ key: storedKey(key), version, text, expiresAt }).changes > 0),
    sweep: async (now) => void (await inPortions(() => ways.write(() => sweep.run(now).changes))),
  };
}
