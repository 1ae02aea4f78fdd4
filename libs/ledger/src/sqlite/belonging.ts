import type { DatabaseSync } from 'node:sqlite';
import type { Belonging } from '../belonging.js';

/** The one row that says it; `write` and `read` are the ledger’s own ways to its file. */
export function belongingOn(
  database: DatabaseSync,
  ways: {
    readonly write: <T>(work: () => T) => Promise<T>;
    readonly read: <T>(work: () => T) => Promise<T>;
  },
): Belonging {
  const find = database.prepare('SELECT log FROM belonging WHERE one = 1');
  const change = database.prepare('INSERT OR REPLACE INTO belonging VALUES (1, ?)');
  const take = database.prepare(
    "INSERT INTO belonging VALUES (1, ?) ON CONFLICT DO UPDATE SET log = excluded.log WHERE log = ''",
  );
  return {
    find: () => ways.read(() => (find.get()?.['log'] as string | undefined) ?? null),
    take: (log) => ways.write(() => void take.run(log)),
    change: (log) => ways.write(() => void change.run(log)),
  };
}
