import type { DatabaseSync } from 'node:sqlite';
import type { CheckResult } from '@sluice/core';
import { fileProblem, openFile, openReadOnly } from '@sluice/sqlite';
import { ledger } from './storage-error.js';

/**
 * One script a version: `user_version` counts those that ran. Released scripts are never changed; a new one is added.
 */
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
  `
  CREATE INDEX rates_by_expiry ON rates (expire);
  `,
  // Which log it belongs to. One of a former version has the empty text, and belongs to the log that it meets first;
  // a new one has no row.
  `
  CREATE TABLE belonging (one INTEGER PRIMARY KEY CHECK (one = 1), log TEXT NOT NULL) STRICT;
  INSERT INTO belonging SELECT 1, '' FROM pragma_user_version WHERE user_version > 0;
  `,
  `
  CREATE TABLE past_calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    call_key TEXT NOT NULL,
    scope TEXT NOT NULL,
    item TEXT NOT NULL,
    amount INTEGER NOT NULL,
    at INTEGER NOT NULL,
    running_until INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    outcome TEXT
  ) STRICT;
  CREATE INDEX past_calls_by_item ON past_calls (scope, item, at, amount);
  CREATE INDEX past_calls_by_call ON past_calls (call_key);
  CREATE INDEX past_calls_by_expiry ON past_calls (expires_at);
  `,
];

const kind = { ...ledger, applicationId: 0x534c4c44, migrations };

/** Looks at a ledger file that is there, without a change to it. Throws SQLite's error if it cannot be read. */
export function examineLedgerFile(file: string): CheckResult {
  const database = openReadOnly(file);
  try {
    const { problem, isOlder } = fileProblem(database, file, kind);
    if (problem !== null)
      return {
        ...{ outcome: 'failed', detail: `The ledger ${file} ${problem}.` },
        action: 'Put a whole copy back, or run the version that wrote it.',
      };
    if (!isOlder) return { outcome: 'ok', detail: `The ledger is ${file}.` };
    return {
      ...{ outcome: 'warning', detail: `The ledger ${file} is of a former version.` },
      action: 'The next start brings it to this version.',
    };
  } finally {
    database.close();
  }
}

/**
 * Opens or makes the file. Throws SQLite's error if it is locked at the moment, else Fault('ledger_unreachable') with
 * what to change.
 */
export function openDatabase(file: string): DatabaseSync {
  return openFile(file, kind);
}
