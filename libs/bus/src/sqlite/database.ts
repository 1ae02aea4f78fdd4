import type { DatabaseSync } from 'node:sqlite';
import { openFile } from '@sluice/sqlite';
import { migrations } from './schema.js';
import { log } from './storage-error.js';

/**
 * Opens or makes the file. Throws SQLite's error if it is locked at the moment, else Fault('storage') with what to
 * change.
 */
export function openDatabase(file: string): DatabaseSync {
  const database = openFile(file, { ...log, applicationId: 0x534c4c47, migrations });
  // What is blanked or trimmed is overwritten, and not only left out.
  database.exec('PRAGMA secure_delete = ON');
  return database;
}
