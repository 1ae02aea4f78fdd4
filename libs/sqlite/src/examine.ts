import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { FileKind } from './file.js';
import { missingBytes } from './whole.js';

/**
 * Opens the file for reading alone, for work that must leave nothing behind: where no process has it open, SQLite
 * makes no files beside it. Throws SQLite's error if it cannot be read.
 */
export function openReadOnly(file: string): DatabaseSync {
  const url = pathToFileURL(file);
  url.search = existsSync(`${file}-wal`) ? '?mode=ro' : '?mode=ro&immutable=1';
  return new DatabaseSync(url, { readOnly: true });
}

/** What keeps this version from opening the file as it is, as the end of a sentence; null if nothing does. */
export function fileProblem(
  database: DatabaseSync,
  file: string,
  { applicationId, migrations }: Pick<FileKind, 'applicationId' | 'migrations'>,
): { readonly problem: string | null; /** Whether a start migrates it. */ readonly isOlder: boolean } {
  const missing = missingBytes(file);
  if (missing !== null)
    return { problem: `has ${missing.has} of its ${missing.should} bytes: its end is missing`, isOlder: false };
  const pragma = (name: string): number => Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
  if (pragma('application_id') !== applicationId) return { problem: 'is a database of something else', isOlder: false };
  const version = pragma('user_version');
  const isNewer = version > migrations.length;
  const problem = isNewer ? `was written by a newer version (${version}, this one knows ${migrations.length})` : null;
  return { problem, isOlder: version < migrations.length };
}
