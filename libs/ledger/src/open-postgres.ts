import type { ExaminedDatabase, LedgerDatabase } from './postgres/examine.js';
import type { PostgresLedger } from './postgres/ledger.js';
import type { PostgresLedgerOptions } from './postgres/open.js';

/**
 * As `postgres/open.ts` says. The client of PostgreSQL is loaded here, so that commands on an embedded ledger start
 * without it.
 */
export async function openPostgresLedger(options: PostgresLedgerOptions): Promise<PostgresLedger> {
  const postgres = await import('./postgres/open.js');
  return postgres.openPostgresLedger(options);
}

/** As `postgres/examine.ts` says. */
export async function examinePostgres(given: LedgerDatabase): Promise<ExaminedDatabase> {
  return (await import('./postgres/examine.js')).examinePostgres(given);
}
