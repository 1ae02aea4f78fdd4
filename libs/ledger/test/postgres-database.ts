import pg from 'pg';
import { openPostgresLedger } from '@sluice/ledger';
import type { PostgresLedger, PostgresLedgerOptions } from '@sluice/ledger';
import type { LedgerParts } from '../src/postgres/ledger.js';
import { infra } from '../../../test/infra/client.ts';
import { freshDatabase } from '../../../test/infra/fresh.ts';

/** A database of a test's own, and the ledgers opened on it, which end with it. */
export interface Database {
  readonly url: string;
  /** What the ledgers logged, in order. */
  readonly logged: { readonly level: string; readonly message: string }[];
  open(options?: Partial<PostgresLedgerOptions>): Promise<PostgresLedger>;
  /** Runs one statement, on a connection that no ledger uses. */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
}

/** Works on an empty database of the shared server, or of the server at `serverUrl`. */
export async function onDatabase(work: (database: Database) => Promise<void>, serverUrl?: string): Promise<void> {
  const { url, drop } = await freshDatabase(serverUrl ?? (await infra('postgres')).databaseUrl);
  const logged: { level: string; message: string }[] = [];
  const ledgers: PostgresLedger[] = [];
  const side = new pg.Pool({ connectionString: url, max: 1 });
  const cleanUp = async (): Promise<void> => {
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    await side.end();
    await drop();
  };
  // It is cut off when a test stops its server; the next statement connects again.
  side.on('error', () => undefined);
  try {
    await work({
      url,
      logged,
      open: async (options) => {
        const log = (level: string, message: string): number => logged.push({ level, message });
        const ledger = await openPostgresLedger({ url, instance: `test-${ledgers.length}`, log, ...options });
        ledgers.push(ledger);
        return ledger;
      },
      query: async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
        (await side.query<Row>(text, values)).rows,
    });
  } catch (error) {
    // A server that is away fails these too, and would hide why the test failed.
    await cleanUp().catch(() => undefined);
    throw error;
  }
  await cleanUp();
}

/** The same address with another part. */
export function otherUrl(url: string, change: (url: URL) => void): string {
  const other = new URL(url);
  change(other);
  return other.href;
}

/** The parts of a ledger that has one database, which is not read first. */
export function onOne(
  database: LedgerParts['databases'][0],
): Pick<LedgerParts, 'databases' | 'placement' | 'readPlacement' | 'spreading'> {
  const placement = { version: 1, current: [database.name], former: [] };
  return {
    ...{ databases: [database], placement, readPlacement: () => Promise.resolve(placement) },
    spreading: { list: () => Promise.resolve([]), spread: () => Promise.resolve([]) },
  };
}
