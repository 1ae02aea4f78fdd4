import type { DatabaseSync } from 'node:sqlite';
import type { CountedDocuments } from '@sluice/core';
import { expired, inPortions } from './portions.js';
import { keyBehind } from '../stored-key.js';
import { storedKey } from './stored-key.js';

const under = 'WHERE key >= ? AND key < ? AND (expires_at IS NULL OR expires_at > ?)';

/** The documents beside the claims; `write` and `read` are the ledger’s own ways to its file. */
export function documentsOn(
  database: DatabaseSync,
  ways: {
    readonly write: <T>(work: () => T) => Promise<T>;
    readonly read: <T>(work: () => T) => Promise<T>;
  },
): CountedDocuments {
  const find = database.prepare('SELECT version, text, expires_at FROM documents WHERE key = ?');
  const put = database.prepare(`
    INSERT INTO documents (key, version, text, expires_at) SELECT :key, :version, :text, :expiresAt
    WHERE :version = 1 OR EXISTS (SELECT 1 FROM documents WHERE key = :key)
    ON CONFLICT (key) DO UPDATE SET version = excluded.version, text = excluded.text, expires_at = excluded.expires_at
    WHERE version = excluded.version - 1 OR (version = excluded.version AND text = excluded.text)
  `);
  const sweep = database.prepare(`DELETE FROM documents WHERE key IN (${expired('documents', 'expires_at')})`);
  const count = database.prepare(`SELECT count(*) AS count FROM documents ${under}`);
  const first = database.prepare(
    `SELECT key FROM documents ${under} ORDER BY expires_at IS NULL, expires_at, key LIMIT ?`,
  );
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
    tally: (prefix, now, most) =>
      ways.read(() => {
        const range = [prefix, keyBehind(prefix), now] as const;
        return {
          count: count.get(...range)?.['count'] as number,
          first: first.all(...range, most).map((row) => row['key'] as string),
        };
      }),
    sweep: async (now) => void (await inPortions(() => ways.write(() => sweep.run(now).changes))),
  };
}
