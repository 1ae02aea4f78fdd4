import type { CheckResult } from '@sluice/core';
import pg from 'pg';
import { connectionTo } from './connection.js';
import { lastingRefusal } from './database-error.js';
import { newestFormat } from './migrations.js';
import type { TimeThere } from './ledger.js';

/** The ledger’s database, looked at without a change to it. */
export interface ExaminedDatabase extends CheckResult {
  readonly time: TimeThere;
}

interface Found {
  readonly version: string;
  readonly number: number;
  readonly encoding: string;
  readonly commit: string;
  readonly standby: boolean;
  readonly now: string;
  readonly schemas: readonly { readonly name: string; readonly exists: boolean; readonly may: boolean | null }[];
  readonly mayCreate: boolean;
}

const oldest = 130_000;

export interface LedgerDatabase {
  readonly url: string;
  /** Where the tables are, the ledger’s first. */
  readonly schemas: readonly string[];
  /** This process, as the database’s list of connections shows it. */
  readonly instance: string;
}

/**
 * Connects, and asks for version, settings, rights and the format of the tables. Rejects with a sentence that says
 * what to change.
 */
export async function examinePostgres(given: LedgerDatabase): Promise<ExaminedDatabase> {
  const connection = connectionTo(given.url, given.instance);
  const client = new pg.Client(connection.config);
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('begin read only');
    const asked = Date.now();
    const found = await look(client, given.schemas);
    const time = { there: Number(found.now), asked, answered: Date.now() };
    const format = found.schemas[0]?.exists === true ? await formatOf(client, given.schemas[0] ?? '') : null;
    return { ...judged(found, format), time };
  } catch (error) {
    throw lastingRefusal(connection.place, error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function look(client: pg.Client, schemas: readonly string[]): Promise<Found> {
  const { rows } = await client.query<Found>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
      current_setting('server_encoding') as encoding, current_setting('synchronous_commit') as commit,
      pg_is_in_recovery() as standby, (extract(epoch from clock_timestamp()) * 1000)::bigint::text as now,
      has_database_privilege(current_database(), 'create') as "mayCreate",
      (select json_agg(json_build_object('name', wanted, 'exists', oid is not null,
        'may', case when oid is null then null else has_schema_privilege(oid, 'create') end) order by place)
       from unnest($1::text[]) with ordinality as of_schemas (wanted, place)
       left join pg_namespace on nspname = wanted) as schemas`,
    [schemas],
  );
  return rows[0] as Found;
}

/** Null where the tables are not there yet. */
async function formatOf(client: pg.Client, schema: string): Promise<number | null> {
  const table = `${pg.escapeIdentifier(schema)}.sluice_ledger_migrations`;
  const { rows } = await client.query<{ there: string | null }>('select to_regclass($1)::text as there', [table]);
  if (rows[0]?.there == null) return null;
  const versions = await client.query<{ version: number }>(`select coalesce(max(version), 0) as version from ${table}`);
  return versions.rows[0]?.version ?? 0;
}

function judged(found: Found, format: number | null): CheckResult {
  const failed = (detail: string, action: string): CheckResult => ({ outcome: 'failed', detail, action });
  const { version, encoding } = found;
  if (found.number < oldest)
    return failed(`The database is PostgreSQL ${version}.`, 'Update it to PostgreSQL 13 or later.');
  if (encoding !== 'UTF8')
    return failed(`The database keeps text as ${encoding}.`, 'Create one with the encoding UTF8.');
  if (found.commit === 'off')
    return failed(
      'The database may forget claims in a crash: synchronous_commit is off.',
      'Remove that from DATABASE_URL.',
    );
  if (found.standby)
    return failed('The database takes no writes: it is a standby.', 'Name the primary in DATABASE_URL.');
  if (format !== null && format > newestFormat)
    return failed(
      `The ledger was used by a newer version (its format is ${format}, this version knows ${newestFormat}).`,
      'Run that version, or name another database.',
    );
  const closed = found.schemas.find(({ may }) => may === false);
  const isReady = format === newestFormat;
  if (closed !== undefined && !isReady)
    return failed(
      `This user may not create tables in the schema ${closed.name}.`,
      `As its owner: grant create on schema ${closed.name} to this user.`,
    );
  const absent = found.schemas.find(({ exists }) => !exists);
  if (absent !== undefined && !found.mayCreate)
    return failed(
      `There is no schema ${absent.name}, and this user may not create one.`,
      'As the owner of the database: grant create on it to this user.',
    );
  const detail = `PostgreSQL ${version} answers`;
  if (isReady) return { outcome: 'ok', detail: `${detail}, and the ledger is of this version.` };
  return {
    ...{
      outcome: 'warning',
      detail: `${detail}; the ledger ${format === null ? 'has no tables yet' : `is of format ${format}`}.`,
    },
    action: 'Nothing: the first service brings it to this version.',
  };
}
