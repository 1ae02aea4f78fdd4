import type { DatabaseSync } from 'node:sqlite';
import { openFile } from '@sluice/sqlite';
import { migrations } from './schema.js';
import { log } from './storage-error.js';

/** Opens or makes the file. Throws SQLite's error if it is locked at the moment, else Fault('storage') with what to change. */
export function openDatabase(file: string): DatabaseSync {
  return openFile(file, { ...log, applicationId: 0x534c4c47, migrations });
}
