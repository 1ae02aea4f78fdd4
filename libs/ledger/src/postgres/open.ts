import { Fault } from '@sluice/core';
import type { Clock } from '@sluice/core';
import type { LedgerLog } from '../ledger-log.js';
import { Outage, backOffMs } from './outage.js';
import { connectionTo, poolOf } from './connection.js';
import type { Connection } from './connection.js';
import { lastingRefusal, mayPass, unreachable } from './database-error.js';
import { pause } from './batcher.js';
import type { LedgerDatabase } from './claim-store.js';
import { ledgerOn } from './ledger.js';
import type { PostgresLedger } from './ledger.js';
import { migrate } from './migrations.js';
import { firstDatabase } from './placement.js';
import { PlacementRecord } from './placement-record.js';

export interface PostgresLedgerOptions {
  /** `postgres://user:password@host:port/database`, with what pg understands as parameters, such as `sslmode`. */
  readonly url: string;
  /** Databases of claims beside it. They hold some once they are added. */
  readonly others?: readonly FurtherDatabase[];
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

/** A database of claims beside the ledger’s first. */
export interface FurtherDatabase {
  /** By which claims are placed: another one is another database. */
  readonly name: string;
  readonly url: string;
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
  const opened = async ({ name, url: address }: FurtherDatabase): Promise<LedgerDatabase> => {
    const connection = connectionTo(address, instance);
    const outage = new Outage(log);
    await until(signal, () => migrate(connection, schema), connection, outage);
    const pool = poolOf(connection, ({ message }) =>
      log('info', 'An idle connection of the ledger broke; the next statement opens another.', { error: message }),
    );
    return { name, pool, place: connection.place, outage };
  };
  const first = await opened({ name: firstDatabase, url });
  const databases: [LedgerDatabase, ...LedgerDatabase[]] = [first];
  try {
    for (const other of options.others ?? []) databases.push(await opened(other));
    const record = new PlacementRecord({ databases, schema, clock });
    await until(signal, () => record.create(), first, first.outage);
    const placement = await record.read();
    for (const { name } of databases.filter((database) => !placement.current.includes(database.name)))
      log('warn', `The ledger’s database ${name} holds no claims yet. Run “sluice ledger spread”.`, {});
    return ledgerOn({
      ...{ databases, schema, patienceMs, clock, placement, spreading: record },
      readPlacement: () => record.read(),
    });
  } catch (error) {
    await Promise.all(databases.map(({ pool }) => pool.end()));
    throw error;
  }
}

async function until(
  signal: AbortSignal,
  work: () => Promise<void>,
  { place }: Pick<Connection, 'place'>,
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
