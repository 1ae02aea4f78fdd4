import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Fault } from '@sluice/core';
import { isBusy, isSqliteError, sqliteFault } from './errors.js';
import type { Named } from './errors.js';
import { inTransaction } from './transaction.js';
import { missingBytes } from './whole.js';

/** A kind of file that this project keeps. */
export interface FileKind extends Named {
  /** Marks the file as one of this kind, so that another file is not taken for one. */
  readonly applicationId: number;
  /**
   * One script a version: `user_version` counts those that ran. Released scripts are never changed; a new one is
   * added.
   */
  readonly migrations: readonly string[];
  /** What to do about a file whose end is missing, as a sentence; by default to put a copy back. */
  readonly whatToDo?: string;
}

/** At most so many bytes of the write-ahead log are kept when it starts over. */
const journalBytes = 64 * 1024 * 1024;

/**
 * Opens or makes the file, in WAL mode, with all its tables; every commit is on the disk before it counts, unless
 * that is changed. No busy timeout: it would stop the event loop. Throws SQLite's error if the file is locked at the
 * moment, else a Fault of the kind's code with what to change.
 */
export function openFile(file: string, kind: FileKind): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true });
    makeOwn(file);
    requireWhole(file, kind);
    database = new DatabaseSync(file);
    const mode = pragma(database, 'journal_mode = WAL');
    if (mode !== 'wal') {
      const why = `its file system does not allow write-ahead logging (journal mode ${String(mode)}). Choose a local disk.`;
      throw refusal(file, kind, why);
    }
    database.exec(`PRAGMA journal_size_limit = ${journalBytes}; PRAGMA synchronous = FULL`);
    migrate(database, file, kind);
    return database;
  } catch (error) {
    database?.close();
    if (isBusy(error)) throw error;
    if (isSqliteError(error)) throw sqliteFault(`The ${kind.noun} ${file} cannot be used`, error, kind);
    if (isSystemError(error)) {
      const why = `its folder cannot be made: ${error.message}. Choose a folder that this user may write to.`;
      throw refusal(file, kind, why, error);
    }
    throw error;
  }
}

/** A page that is missing is noticed when it is asked for, which may be days later and in the middle of a run. */
function requireWhole(file: string, kind: FileKind): void {
  const missing = missingBytes(file);
  if (missing === null) return;
  const sizes = `it has ${missing.has} of its ${missing.should} bytes`;
  throw refusal(file, kind, `${sizes}, so its end is missing. ${kind.whatToDo ?? 'Put a whole copy of it back.'}`);
}

/**
 * Makes the file, if it is not there, for its owner alone: SQLite would let everybody read it, and gives the files
 * beside it the same rights.
 */
export function makeOwn(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    // SQLite says better why it cannot be opened.
    if (!isSystemError(error)) throw error;
  }
}

/** Writes the version in any case, which shows at once whether the file can be written. */
function migrate(database: DatabaseSync, file: string, kind: FileKind): void {
  const { applicationId, migrations } = kind;
  inTransaction(database, () => {
    const version = Number(pragma(database, 'user_version'));
    const owner = Number(pragma(database, 'application_id'));
    const isOther = owner !== applicationId && (owner !== 0 || version !== 0 || hasTables(database));
    if (isOther) throw refusal(file, kind, 'it is a database of something else. Choose another file.');
    if (version > migrations.length) {
      const versions = `its format is ${version}, this version knows ${migrations.length}`;
      throw refusal(file, kind, `it was written by a newer version (${versions}). Update, or choose another file.`);
    }
    for (const script of migrations.slice(version)) database.exec(script);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
  });
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

function refusal(file: string, { noun, code }: FileKind, why: string, cause?: unknown): Fault {
  return new Fault(code, `The ${noun} ${file} cannot be used: ${why}`, false, { cause });
}
