import { Fault } from '@sluice/core';

/** SQLite's primary result code of an error of node:sqlite; -1, which SQLite does not use, for any other error. */
function resultCode(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('code' in error) || !('errcode' in error)) return -1;
  return error.code === 'ERR_SQLITE_ERROR' ? Number(error.errcode) & 0xff : -1;
}

/** Another connection is in the way for the moment (SQLITE_BUSY, SQLITE_LOCKED). */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === 5 || code === 6;
}

/** There is no room for it now (SQLITE_FULL). */
export function isFull(error: unknown): boolean {
  return resultCode(error) === 13;
}

/** A sentence that says what to change, as Fault('ledger_unreachable', retryable); a Fault comes back as it is. */
export function unreachable(doing: string, error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault('ledger_unreachable', `${doing}: ${remedy(error)}`, true, { cause: error });
}

function remedy(error: unknown): string {
  switch (resultCode(error)) {
    case 5:
    case 6:
      return 'another process keeps the file locked. End it, or give each process a ledger of its own.';
    case 8:
      return 'the file or its folder is read-only. Let this user write there, or choose another folder.';
    case 11:
      return 'the file is damaged. Restore it from a copy, or begin with a new file.';
    case 13:
      return 'the disk is full, or the file has reached its limit. Free some space.';
    case 14:
      return 'the file cannot be opened. Choose a folder that exists and that this user may write to.';
    case 26:
      return 'the file is not a SQLite database. Choose another file.';
    default:
      return error instanceof Error ? error.message : String((error as { message?: unknown }).message ?? error);
  }
}
