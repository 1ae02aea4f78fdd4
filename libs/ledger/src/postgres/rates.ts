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
  const count = counterOf(
    ({ RateLimiterPostgres }, options) =>
      new RateLimiterPostgres({
        ...options,
        storeClient: pool,
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
