import { isSqliteError, sqliteFault } from '@sluice/sqlite';
import type { Named } from '@sluice/sqlite';

export const log: Named = { noun: 'log', code: 'storage' };

/**
 * A sentence that says what to change, as Fault('storage', retryable). Anything but SQLite’s own errors comes back as
 * it is.
 */
export function storageFault(doing: string, error: unknown): unknown {
  return isSqliteError(error) ? sqliteFault(doing, error, log) : error;
}
