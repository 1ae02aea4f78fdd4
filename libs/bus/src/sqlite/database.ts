import type { DatabaseSync } from 'node:sqlite';
import { openFile } from '@sluice/sqlite';
import { migrations } from './schema.js';
import { log } from './storage-error.js';

/** The log’s file. */
export const logKind = { ...log, applicationId: 0x534c4c47, migrations };

/**
 * Opens or makes the file. Throws SQLite's error if it is locked at the moment, else Fault('storage') with what to
 * change.
 */
export function openDatabase(file: string): DatabaseSync {
  const database = openFile(file, logKind);
  // What is blanked or trimmed is overwritten, and not only left out.
  database.exec('PRAGMA secure_delete = ON');
  return database;
}
