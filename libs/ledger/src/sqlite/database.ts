import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Fault } from '@sluice/core';

/** Marks the file as a ledger of this project, so that another file is not taken for one. */
const applicationId = 0x534c4c44;

/** One script a version: `user_version` counts those that ran. Released scripts are never changed; a new one is added. */
const migrations: readonly string[] = [
  `
  CREATE TABLE claims (
    key TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    value TEXT,
    claimed_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX claims_by_expiry ON claims (expires_at);
  `,
  // The columns are those that rate-limiter-flexible writes.
  `
  CREATE TABLE rates (
    key TEXT PRIMARY KEY,
    points INTEGER NOT NULL,
    expire INTEGER
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE documents (
    key TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  `,
  `
  ALTER TABLE documents ADD COLUMN expires_at INTEGER;
  CREATE INDEX documents_by_expiry ON documents (expires_at) WHERE expires_at IS NOT NULL;
  `,
];

/**
 * Opens or makes the file, with every commit on the disk before it counts. No busy timeout: it would stop the event loop.
 * Throws SQLite's own errors as they are, and a sentence for a file that is not a ledger this version can use.
 */
export function openDatabase(file: string): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  try {
    const mode = pragma(database, 'journal_mode = WAL');
    if (mode !== 'wal') {
      throw refusal(file, 'its file system does not allow write-ahead logging. Choose a local disk.');
    }
    database.exec('PRAGMA synchronous = FULL');
    migrate(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Writes the version in any case, which shows at once whether the file can be written. */
function migrate(database: DatabaseSync, file: string): void {
  inTransaction(database, () => {
    const version = Number(pragma(database, 'user_version'));
    const owner = Number(pragma(database, 'application_id'));
    const hasTables = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() !== undefined;
    if (owner !== applicationId && (owner !== 0 || version !== 0 || hasTables)) {
      throw refusal(file, 'it is a database of something else. Choose another file.');
    }
    if (version > migrations.length) {
      const versions = `its format is ${version}, this version knows ${migrations.length}`;
      throw refusal(file, `it was written by a newer version (${versions}). Update, or choose another file.`);
    }
    for (const script of migrations.slice(version)) database.exec(script);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
  });
}

/** All or nothing. Throws what `work` or SQLite throws. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function pragma(database: DatabaseSync, text: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0];
}

function refusal(file: string, why: string): Fault {
  return new Fault('ledger_unreachable', `The ledger ${file} cannot be used: ${why}`, false);
}
