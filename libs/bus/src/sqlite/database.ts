import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Fault } from '@sluice/core';
import { migrations } from './schema.js';
import { isBusy, isSqliteError, storageFault } from './storage-error.js';

/** Marks the file as a log of this project, so that another file is not taken for one. */
const applicationId = 0x534c4c47;

/**
 * Opens or makes the file, in WAL mode, with all its tables. No busy timeout: it would stop the event loop.
 * Throws SQLite's error if the file is locked at the moment, else Fault('storage') with what to change.
 */
export function openDatabase(file: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true });
    database = new DatabaseSync(file);
    const mode = pragma(database, 'journal_mode = WAL');
    if (mode !== 'wal') {
      throw refusal(
        file,
        `its file system does not allow write-ahead logging (journal mode ${mode}). Choose a local disk.`,
      );
    }
    database.exec('PRAGMA journal_size_limit = 67108864');
    migrate(database, file);
    return database;
  } catch (error) {
    database?.close();
    if (isBusy(error)) throw error;
    if (isSqliteError(error)) throw storageFault(`The log ${file} cannot be used`, error);
    if (isSystemError(error)) {
      throw refusal(
        file,
        `its folder cannot be made: ${error.message}. Choose a folder that this user may write to.`,
        error,
      );
    }
    throw error;
  }
}

/** Writes the version in any case, which shows at once whether the file can be written. */
function migrate(database: DatabaseSync, file: string): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = Number(pragma(database, 'user_version'));
    const owner = Number(pragma(database, 'application_id'));
    const isOther = owner !== applicationId && (owner !== 0 || version !== 0 || hasTables(database));
    if (isOther) throw refusal(file, 'it is a database of something else. Choose another file.');
    if (version > migrations.length) {
      throw refusal(
        file,
        `it was written by a newer version (its format is ${version}, this version knows ${migrations.length}). Update, or choose another file.`,
      );
    }
    for (const script of migrations.slice(version)) database.exec(script);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** What node:fs throws when the operating system refuses. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return typeof error === 'object' && error !== null && 'syscall' in error;
}

function hasTables(database: DatabaseSync): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() !== undefined;
}

function pragma(database: DatabaseSync, text: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0];
}

function refusal(file: string, why: string, cause?: unknown): Fault {
  return new Fault('storage', `The log ${file} cannot be used: ${why}`, false, { cause });
}
