import type { CheckResult } from '@sluice/core';
import { examineClaimDatabase, examineCluster, examineDatabase, examineLedger, examineLog } from '@sluice/host';
import type { Environment } from '@sluice/host';
import type { Check } from './check.js';
import type { Clocks } from './clocks.js';

/** The service that runs wherever services run. */
const firstService = 'filter';

interface StoreChecks {
  readonly checks: readonly Check[];
  /** Whether the log can be opened as a command does, which then changes nothing. Resolves when that is known. */
  readonly isReadable: Promise<boolean>;
  close(): Promise<void>;
}

/** Log and ledger, wherever they are. Nothing is created, registered, migrated or held. */
export function storeChecks(environment: Environment, clocks: Clocks): StoreChecks {
  const { kafka, databaseUrl, claimDatabases } = environment;
  const database: Check = {
    check: 'database',
    run: async () => {
      if (databaseUrl === null && kafka !== null)
        return {
          ...{ outcome: 'failed', detail: 'DATABASE_URL is not set, and on Kafka the ledger must be in a PostgreSQL.' },
          action: 'Set it, such as postgres://user:password@localhost:5432/sluice.',
        };
      const found = await examineDatabase(environment);
      if (found === null) return examineLedger(environment) ?? notThere('ledger');
      clocks.noteSpan('the database', found.time);
      return found;
    },
  };
  const others = claimDatabases.map(({ name, url }): Check => ({
    check: `database.${name}`,
    run: () => examineClaimDatabase(url, environment),
  }));
  if (kafka === null) {
    const readable = Promise.withResolvers<boolean>();
    const log: Check = {
      check: 'log',
      run: () => {
        try {
          const found = examineLog(environment, firstService);
          readable.resolve(found?.isOfThisVersion ?? false);
          return found?.result ?? notThere('log');
        } finally {
          readable.resolve(false);
        }
      },
    };
    return { checks: [log, database, ...others], isReadable: readable.promise, close: () => Promise.resolve() };
  }
  const cluster = examineCluster(environment, kafka);
  const topics = Promise.withResolvers<boolean>();
  const schemas = Promise.withResolvers<boolean>();
  return {
    checks: [
      { check: 'kafka', run: async () => (await cluster).broker() },
      {
        check: 'kafka.topics',
        run: async () => {
          try {
            const found = await (await cluster).topics();
            topics.resolve(found.isWhole);
            return found;
          } finally {
            topics.resolve(false);
          }
        },
      },
      { check: 'kafka.rights', run: async () => (await cluster).rights() },
      {
        check: 'registry',
        run: async () => {
          try {
            const found = await (await cluster).registry();
            clocks.note('the schema registry', found.clock);
            schemas.resolve(found.isWhole);
            return found;
          } finally {
            schemas.resolve(false);
          }
        },
      },
      database,
      ...others,
    ],
    isReadable: Promise.all([topics.promise, schemas.promise]).then((all) => all.every((is) => is)),
    close: async () => (await cluster).close(),
  };
}

function notThere(what: string): CheckResult {
  return { outcome: 'ok', detail: `There is no ${what} yet; the first start makes it.` };
}
