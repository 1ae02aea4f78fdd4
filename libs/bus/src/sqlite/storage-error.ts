import { Fault } from '@sluice/core';

/** What node:sqlite throws when SQLite itself refuses; `errcode` is SQLite's extended result code. */
export interface SqliteError {
  readonly message: string;
  readonly code: 'ERR_SQLITE_ERROR';
  readonly errcode: number;
}

export function isSqliteError(error: unknown): error is SqliteError {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}

/** Another connection is in the way for the moment: SQLITE_BUSY and SQLITE_LOCKED, in all their variants. */
export function isBusy(error: unknown): boolean {
  if (!isSqliteError(error)) return false;
  const primary = error.errcode & 0xff;
  return primary === 5 || primary === 6;
}

/** A sentence that says what to change, as Fault('storage', retryable). Anything but SQLite’s own errors comes back as it is. */
export function storageFault(doing: string, error: unknown): unknown {
  if (!isSqliteError(error)) return error;
  return new Fault('storage', `${doing}: ${remedy(error)}`, true, { cause: error });
}

function remedy(error: SqliteError): string {
  switch (error.errcode & 0xff) {
    case 5:
    case 6:
      return 'another process keeps the file locked. End it, or give each process a log of its own.';
    case 8:
      return 'the file or its folder is read-only. Let this user write there, or choose another folder.';
    case 11:
      return 'the file is damaged. Restore it from a copy, or begin with a new file.';
    case 13:
      return 'the disk is full, or the file has reached its limit. Free some space; the work goes on by itself.';
    case 14:
      return 'the file cannot be opened. Choose a folder that exists and that this user may write to.';
    case 26:
      return 'the file is not a SQLite database. Choose another file.';
    default:
      return `SQLite says “${error.message}” (${error.errcode}).`;
  }
}
