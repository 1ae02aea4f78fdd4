import pg from 'pg';
import type { Connection } from './connection.js';
import { refusal } from './database-error.js';

/**
 * One script a version, applied in order. Released scripts are never changed; a new one is added. Those from the fifth
 * on add something that former versions may leave alone, and may be applied again: to go back, an operator deletes
 * their rows (docs/operations.md#upgrades), and this version comes again later.
 */
const migrations: readonly ((schema: string) => string)[] = [
  // Keys are ordered by bytes: no update of the system's languages can make the index miss a key that is there.
  (schema) => `
    create table ${schema}.sluice_claims (
      key text collate "C" primary key,
      owner text not null,
      value text,
      claimed_at bigint not null,
      expires_at bigint not null
    );
    create index sluice_claims_by_expiry on ${schema}.sluice_claims (expires_at);
  `,
  // The columns are those that rate-limiter-flexible writes, in its order.
  (schema) => `
    create table ${schema}.sluice_rates (
      key text collate "C" primary key,
      points integer not null,
      expire bigint
    );
  `,
  (schema) => `
    create table ${schema}.sluice_documents (
      key text collate "C" primary key,
      version int not null,
      text text not null
    );
  `,
  // Null is kept for ever: what was there before, until it is written again.
  (schema) => `
    alter table ${schema}.sluice_documents add column expires_at bigint;
    create index sluice_documents_by_expiry on ${schema}.sluice_documents (expires_at) where expires_at is not null;
  `,
  (schema) => `
    create index if not exists sluice_rates_by_expiry on ${schema}.sluice_rates (expire);
  `,
  // Which log it belongs to. One of a former version, whose first tables were made by another transaction, has the
  // empty text.
  (schema) => `
    create table if not exists ${schema}.sluice_belonging (one int primary key check (one = 1), log text not null);
    insert into ${schema}.sluice_belonging select 1, ''
    where exists (select from ${schema}.sluice_ledger_migrations where version = 1 and applied_at < now())
    on conflict do nothing;
  `,
  // Keys of calls have no index entry beside another text: two long ones are more than an entry can have.
  (schema) => `
    create table if not exists ${schema}.sluice_past_calls (
      id bigint generated always as identity primary key,
      call_key text collate "C" not null,
      scope text collate "C" not null,
      item text collate "C" not null,
      amount bigint not null,
      at bigint not null,
      running_until bigint not null,
      expires_at bigint not null,
      outcome text
    );
    create index if not exists sluice_past_calls_by_item on ${schema}.sluice_past_calls (scope, item, at);
    create index if not exists sluice_past_calls_by_call on ${schema}.sluice_past_calls (call_key);
    create index if not exists sluice_past_calls_by_expiry on ${schema}.sluice_past_calls (expires_at);
  `,
  // Which databases hold claims. The version is the fence: a process that knows another one takes no claim here.
  (schema) => `
    create table if not exists ${schema}.sluice_placement (
      one int primary key check (one = 1),
      ledger text not null,
      name text not null,
      version int not null,
      databases text not null
    );
  `,
];

/** Of the tables, as this version makes them. */
export const newestFormat = migrations.length;

/** Any number, the same in every version: a process that migrates a ledger in this database holds it. */
const migrationLock = 7_319_640_231;

/**
 * Brings the ledger's tables to this version, all or nothing, one process after the other. Throws
 * Fault('ledger_unreachable') with a sentence for a database that this version must not use, and pg's own errors.
 */
export async function migrate(connection: Connection, schema: string): Promise<void> {
  const client = new pg.Client(connection.config);
  // A connection that breaks rejects the statement under way, which is where it is dealt with.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [migrationLock]);
    await requireSettings(client, connection);
    await bringUp(client, connection, schema);
    await client.query('commit');
  } finally {
    // Also what undoes a transaction that was not committed.
    await client.end();
  }
}

async function bringUp(client: pg.Client, { place }: Connection, schema: string): Promise<void> {
  const name = pg.escapeIdentifier(schema);
  // Asked first: `if not exists` wants the right to create a schema even if there is nothing to create.
  const { rowCount } = await client.query('select from pg_namespace where nspname = $1', [schema]);
  if (rowCount === 0) await client.query(`create schema ${name}`);
  const versions = `${name}.sluice_ledger_migrations`;
  const { rows: there } = await client.query<{ table: string | null }>('select to_regclass($1)::text as table', [
    versions,
  ]);
  if (there[0]?.table === null) {
    await client.query(
      `create table ${versions} (version int primary key, applied_at timestamptz not null default now())`,
    );
  }
  const { rows } = await client.query<{ version: number }>(
    `select coalesce(max(version), 0) as version from ${versions}`,
  );
  const version = rows[0]?.version ?? 0;
  if (version > migrations.length) {
    const why = `its format is ${version}, this version knows ${migrations.length}`;
    throw refusal(place, `was used by a newer version (${why}). Update, or choose another database or schema.`);
  }
  for (const [index, script] of migrations.entries()) {
    if (index < version) continue;
    await client.query(script(name));
    await client.query(`insert into ${versions} (version) values ($1)`, [index + 1]);
  }
}

/** What would lose or change claims without saying so. */
async function requireSettings(client: pg.Client, { place }: Connection): Promise<void> {
  const { rows } = await client.query<{ encoding: string; commit: string }>(
    `select current_setting('server_encoding') as encoding, current_setting('synchronous_commit') as commit`,
  );
  const { encoding, commit } = rows[0] ?? {};
  if (encoding !== 'UTF8') {
    throw refusal(place, `keeps text as ${encoding}, which cannot hold every key. Create one with the encoding UTF8.`);
  }
  if (commit === 'off') {
    throw refusal(place, 'may forget claims in a crash: synchronous_commit is off. Remove that from its URL.');
  }
}
