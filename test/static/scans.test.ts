import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import { scansOf } from '../infra/scans.js';

/** Each suite holds what it prepares to this: test/infra/sqlite-plans.ts. */
describe('a statement on SQLite', () => {
  const database = new DatabaseSync(':memory:');
  database.exec(`CREATE TABLE entries (id TEXT PRIMARY KEY, link TEXT NOT NULL, at INTEGER NOT NULL);
    CREATE INDEX by_link ON entries (link) WHERE link <> ''; CREATE INDEX by_time ON entries (at DESC, id)`);
  const scans = (text: string): number => {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all();
    return scansOf(text, plan.map((row) => String(row['detail']))).length; // prettier-ignore
  };

  it.each([
    ["SELECT id FROM entries WHERE link = ? AND link <> ''", 0],
    ['SELECT id FROM entries WHERE id = ?', 0],
    ['SELECT id FROM entries ORDER BY at DESC, id LIMIT ?', 0],
    ['INSERT INTO entries SELECT ?, ?, ? WHERE true', 0],
    ['SELECT id FROM entries WHERE link = ?', 1],
    ['SELECT id FROM entries ORDER BY link LIMIT ?', 1],
    ['SELECT id FROM entries WHERE link = ? ORDER BY at DESC, id LIMIT ?', 1],
    ['UPDATE entries SET at = 1 WHERE link = ?', 1],
    ['DELETE FROM entries WHERE id IN (SELECT id FROM entries WHERE link = ?)', 1],
  ])('%s reads the whole of a table %d times', (text, times) => {
    expect(scans(text)).toBe(times);
  });
});
