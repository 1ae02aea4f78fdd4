import type pg from 'pg';
import type { RateAnswer, RateRequest } from '@sluice/core';
import { counterOf } from '../rates.js';
import { storedKey } from './stored-text.js';

const tableName = 'sluice_rates';

/** Counting on the ledger's pool. Throws pg's own errors. */
export function ratesOn(
  pool: pg.Pool,
  schema: string,
): {
  count(request: RateRequest): Promise<RateAnswer>;
  sweep(now: number): Promise<void>;
} {
  // The limiter puts the quotes around the name.
  const schemaName = schema.replaceAll('"', '""');
  const storeClient = {
    query: ({ text, ...query }: pg.QueryConfig) => pool.query({ ...query, text: withoutFlush(text) }),
  };
  const count = counterOf(
    ({ RateLimiterPostgres }, options) =>
      new RateLimiterPostgres({
        ...options,
        storeClient,
        storeType: 'pool',
        schemaName,
        tableName,
        tableCreated: true,
        clearExpiredByTimeout: false,
      }),
  );
  return {
    count: (request) => count({ ...request, key: storedKey(request.key) }),
    sweep: async (now) => {
      await pool.query(`delete from "${schemaName}".${tableName} where expire <= $1`, [now]);
    },
  };
}

/**
 * The limiter’s statement, whose commit does not wait for the disk: a count that is lost with the server’s power lets
 * a few calls more through, and undoes nothing.
 */
function withoutFlush(text: string): string {
  return text.replace(/;\s*$/, `, set_config('synchronous_commit', 'off', true)`);
}
