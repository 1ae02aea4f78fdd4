import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ToolUnavailableError } from '@sluice/core';
import { makeOwn } from '@sluice/sqlite';
import type { ChangeJournal, JournalEntry } from './journal.js';

/** How many entries are read at once. */
const portion = 1_000;

/**
 * A journal in a SQLite file, made if it is not there; null keeps it in memory. Throws a sentence that names the
 * file.
 */
export function openJournalFile(path: string | null): ChangeJournal {
  const database = openDatabase(path);
  // A key that is there already is no new entry either: another process was faster.
  const insert = database.prepare('INSERT OR IGNORE INTO change (position, key, entry) VALUES (?, ?, ?)');
  const behind = database.prepare(`SELECT entry FROM change WHERE position > ? ORDER BY position LIMIT ${portion}`);
  return {
    after: async (seen) => orUnavailable('read', () => behind.all(seen).map((row) => entryOf(row['entry']))),
    append: async (seen, entry) =>
      orUnavailable(
        'written, so the change was not made',
        () => insert.run(seen + 1, entry.key, JSON.stringify(entry)).changes > 0,
      ),
    close: async () => database.close(),
  };
}

function openDatabase(path: string | null): DatabaseSync {
  try {
    if (path !== null) {
      mkdirSync(dirname(path), { recursive: true });
      makeOwn(path);
    }
    const database = new DatabaseSync(path ?? ':memory:');
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    database.exec(
      'CREATE TABLE IF NOT EXISTS change (position INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, entry TEXT NOT NULL) STRICT',
    );
    return database;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The journal of the knowledge graph, ${path ?? '(memory)'}, cannot be opened: ${reason}. Make its folder writable, or name another file.`,
      { cause: error },
    );
  }
}

function orUnavailable<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new ToolUnavailableError(`The journal of the knowledge graph could not be ${what}.`, { cause: error });
  }
}

function entryOf(text: unknown): JournalEntry {
  return JSON.parse(String(text)) as JournalEntry;
}
