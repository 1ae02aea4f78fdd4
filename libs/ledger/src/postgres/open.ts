import { Fault } from '@sluice/core';
import type { Clock } from '@sluice/core';
import type { LedgerLog } from '../ledger-log.js';
import { Outage, backOffMs } from './outage.js';
import { connectionTo, poolOf } from './connection.js';
import type { Connection } from './connection.js';
import { lastingRefusal, mayPass, unreachable } from './database-error.js';
import { pause } from './batcher.js';
import { ledgerOn } from './ledger.js';
import type { PostgresLedger } from './ledger.js';
import { migrate } from './migrations.js';

export interface PostgresLedgerOptions {
  /** `postgres://user:password@host:port/database`, with what pg understands as parameters, such as `sslmode`. */
  readonly url: string;
  /** Where the tables are, made if it is not there. Default `public`. */
  readonly schema?: string;
  /** This process, as the database's list of connections shows it. */
  readonly instance: string;
  readonly log?: LedgerLog;
  /** What the database's clock is compared with; by default this machine's. */
  readonly clock?: Clock;
  /** Stops opening. */
  readonly signal?: AbortSignal;
}

/** How long a claim waits for a database that is away, milliseconds. */
const patienceMs = 30_000;

/**
 * Claims in PostgreSQL 13 or later, for any number of processes. Brings the tables to this version first. Waits for a
 * database that is not there yet, until the signal aborts, and then throws its reason. Throws
 * Fault('ledger_unreachable', not retryable) for what waiting does not mend: a wrong address, user or database,
 * missing rights, a newer version's tables.
 */
export async function openPostgresLedger(options: PostgresLedgerOptions): Promise<PostgresLedger> {
  const { url, schema = 'public', instance, log = () => undefined, clock = { now: () => Date.now() } } = options;
  const { signal = new AbortController().signal } = options;
  const connection = connectionTo(url, instance);
  const outage = new Outage(log);
  await until(signal, () => migrate(connection, schema), connection, outage);
  const pool = poolOf(connection, ({ message }) =>
    log('info', 'An idle connection of the ledger broke; the next statement opens another.', { error: message }),
  );
  return ledgerOn({ pool, place: connection.place, schema, outage, patienceMs, clock });
}

async function until(
  signal: AbortSignal,
  work: () => Promise<void>,
  { place }: Connection,
  outage: Outage,
): Promise<void> {
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted();
    try {
      await orAborted(work(), signal);
      outage.over();
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Fault) throw error;
      if (!mayPass(error)) throw lastingRefusal(place, error);
      outage.noticed(unreachable(place, error));
    }
    await pause(backOffMs(failures), signal);
  }
}

/** Does not wait for the end of what was abandoned; that ends by itself, within its time limits. */
async function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop);
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}
