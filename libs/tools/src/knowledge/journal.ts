import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Triple } from './terms.js';

/** A change as it was made: only what it really added and removed. */
export interface JournalEntry {
  readonly key: string;
  readonly add: readonly Triple[];
  readonly remove: readonly Triple[];
  /** Statements added and removed, without the names that were added along. */
  readonly added: number;
  readonly removed: number;
}

/** Every change ever made, by its key, in a SQLite file: what is in it has happened. */
export interface ChangeJournal {
  find(key: string): JournalEntry | undefined;
  /** On disk when it returns; throws, and then nothing is written. */
  append(entry: JournalEntry): void;
  /** In the order they were made. */
  entries(): JournalEntry[];
  close(): void;
}

/** Opens or creates the journal; null keeps it in memory. One process at a time. Throws a sentence that names the file. */
export function openJournal(path: string | null): ChangeJournal {
  const database = openDatabase(path);
  const insert = database.prepare('INSERT INTO change (key, entry) VALUES (?, ?)');
  const select = database.prepare('SELECT entry FROM change WHERE key = ?');
  const all = database.prepare('SELECT entry FROM change ORDER BY position');
  return {
    find: (key) => {
      const row = select.get(key);
      return row === undefined ? undefined : entryOf(row['entry']);
    },
    append: (entry) => {
      insert.run(entry.key, JSON.stringify(entry));
    },
    entries: () => all.all().map((row) => entryOf(row['entry'])),
    close: () => database.close(),
  };
}

function openDatabase(path: string | null): DatabaseSync {
  try {
    if (path !== null) mkdirSync(dirname(path), { recursive: true });
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
      {
        cause: error,
      },
    );
  }
}

function entryOf(text: unknown): JournalEntry {
  return JSON.parse(String(text)) as JournalEntry;
}
