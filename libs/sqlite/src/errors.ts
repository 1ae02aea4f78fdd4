import { Fault } from '@sluice/core';
import type { FaultCode } from '@sluice/core';

/** What node:sqlite throws when SQLite itself refuses; `errcode` is SQLite's extended result code. */
interface SqliteError {
  readonly message: string;
  readonly code: 'ERR_SQLITE_ERROR';
  readonly errcode: number;
}

export function isSqliteError(error: unknown): error is SqliteError {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}

/** Another connection is in the way for the moment: SQLITE_BUSY and SQLITE_LOCKED, in all their variants. */
export function isBusy(error: unknown): boolean {
  const primary = primaryCode(error);
  return primary === 5 || primary === 6;
}

/** There is no room for it now (SQLITE_FULL). */
export function isFull(error: unknown): boolean {
  return primaryCode(error) === 13;
}

/** What is kept in a file, as messages call it, and the code of the faults that come of it. */
export interface Named {
  readonly noun: 'log' | 'ledger' | 'projection' | 'graph';
  readonly code: Extract<FaultCode, 'storage' | 'ledger_unreachable'>;
}

/** What SQLite refused, as a Fault, retryable, whose message says what to change. */
export function sqliteFault(doing: string, error: SqliteError, { noun, code }: Named): Fault {
  return new Fault(code, `${doing}: ${remedy(error, noun)}`, true, { cause: error });
}

/** -1, which SQLite does not use, for what is no error of SQLite's. */
function primaryCode(error: unknown): number {
  return isSqliteError(error) ? error.errcode & 0xff : -1;
}

function remedy(error: SqliteError, noun: string): string {
  switch (primaryCode(error)) {
    case 5:
    case 6:
      return `another process keeps the file locked. End it, or give each process a ${noun} of its own.`;
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
