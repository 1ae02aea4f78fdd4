import type { DatabaseSync } from 'node:sqlite';
import type { Durability, RateLimiter } from '@sluice/core';
import { counterOf } from '../rates.js';
import { expired, inPortions } from './portions.js';
import { storedKey } from './stored-key.js';

/** Runs what is asked with the rest of its turn of the event loop, in one transaction. */
type Ask = <T>(work: () => T, durability?: Durability) => Promise<T>;

/** Counting in the ledger's file. */
export function ratesOn(database: DatabaseSync, ask: Ask): RateLimiter {
  const storeClient = clientOn(database, ask);
  const sweep = database.prepare(`DELETE FROM rates WHERE key IN (${expired('rates', 'expire')})`);
  const count = counterOf(
    ({ RateLimiterSQLite }, options) =>
      new RateLimiterSQLite({
        ...options,
        storeClient,
        storeType: 'better-sqlite3',
        tableName: 'rates',
        tableCreated: true,
        clearExpiredByTimeout: false,
      }),
  );
  return {
    take: (request) => count({ ...request, key: storedKey(request.key) }),
    sweepRates: async (now) => void (await inPortions(() => ask(() => sweep.run(now).changes))),
  };
}

/**
 * As much of better-sqlite3 as the limiter uses, on node:sqlite. Its one statement goes into the ledger's batch,
 * which is a transaction already and knows how to wait for another process's lock; the limiter takes the promise as
 * it would take the row.
 */
function clientOn(database: DatabaseSync, ask: Ask): unknown {
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const statement = (sql: string): ReturnType<DatabaseSync['prepare']> => {
    let prepared = statements.get(sql);
    if (prepared === undefined) statements.set(sql, (prepared = database.prepare(sql)));
    return prepared;
  };
  return {
    prepare: (sql: string) => ({
      // A count that is lost with the machine’s power lets a few calls more through, and undoes nothing.
      get: (...values: (string | number)[]) => ask(() => statement(sql).get(...values), 'processLoss'),
    }),
    transaction: <T>(work: () => T) => work,
  };
}
