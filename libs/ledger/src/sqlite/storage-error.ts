import { Fault } from '@sluice/core';
import { isSqliteError, pastLocks, sqliteFault } from '@sluice/sqlite';
import type { Named } from '@sluice/sqlite';

export const ledger: Named = { noun: 'ledger', code: 'ledger_unreachable' };

/** Repeats what meets another process's lock, for up to ten seconds. Throws Fault('ledger_unreachable'). */
export async function patiently<T>(doing: string, work: () => T): Promise<T> {
  return pastLocks(work, (error) => unreachable(doing, error));
}

/** A sentence that says what to change; a Fault comes back as it is, and of anything else its own words are shown. */
function unreachable(doing: string, error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (isSqliteError(error)) return sqliteFault(doing, error, ledger);
  const { message } = error instanceof Error ? error : new Error(String(error));
  return new Fault(ledger.code, `${doing}: ${message}`, true, { cause: error });
}
