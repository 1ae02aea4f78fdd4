import pg from 'pg';
import { Fault } from '@sluice/core';

/**
 * One script a version, applied in order. Released scripts are never changed; a new one is added. Tables of this
 * library alone: the ledger's, which may be in the same schema, have versions of their own.
 */
const migrations: readonly ((schema: string) => string)[] = [
  // Parts are sealed or packed already, so the server is not to try.
  (schema) => `
    create table ${schema}.sluice_content (
      owner text collate "C" not null,
      hash text collate "C" not null,
      ref text not null,
      head text not null,
      body bigint not null,
      written_at bigint not null,
      due_at bigint,
      named boolean not null,
      primary key (owner, hash)
    );
    create index sluice_content_by_due on ${schema}.sluice_content (due_at) where due_at is not null;
    create sequence ${schema}.sluice_content_bodies;
    create table ${schema}.sluice_content_parts (
      body bigint not null,
      part int not null,
      bytes bytea not null,
      primary key (body, part)
    );
    alter table ${schema}.sluice_content_parts alter column bytes set storage external;
    create table ${schema}.sluice_content_key (one int primary key check (one = 1), bytes bytea not null);
  `,
];

/** Any number that no other part of Sluice uses: a process that migrates these tables holds it. */
const migrationLock = 7_319_640_232;

/** Brings the tables to this version, all or nothing, one process after the other. */
export async function migrate(config: pg.ClientConfig, schema: string): Promise<void> {
  const client = new pg.Client(config);
  // A connection that breaks rejects the statement under way, which is where it is dealt with.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [migrationLock]);
    await bringUp(client, schema);
    await client.query('commit');
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function bringUp(client: pg.Client, schema: string): Promise<void> {
  const name = pg.escapeIdentifier(schema);
  // Asked first: `if not exists` wants the right to create a schema even if there is nothing to create.
  const { rowCount } = await client.query('select from pg_namespace where nspname = $1', [schema]);
  if (rowCount === 0) await client.query(`create schema ${name}`);
  const versions = `${name}.sluice_content_migrations`;
  const { rows: there } = await client.query<{ table: string | null }>('select to_regclass($1)::text as table', [
    versions,
  ]);
  if (there[0]?.table === null)
    await client.query(
      `create table ${versions} (version int primary key, applied_at timestamptz not null default now())`,
    );
  const { rows } = await client.query<{ version: number }>(
    `select coalesce(max(version), 0) as version from ${versions}`,
  );
  const version = rows[0]?.version ?? 0;
  if (version > migrations.length) {
    const message = `The tables of content were made by a newer version (their format is ${version}, this version knows ${migrations.length}). Update, or choose another database or schema.`;
    throw new Fault('content_unreachable', message, false);
  }
  for (const [index, script] of migrations.entries()) {
    if (index < version) continue;
    await client.query(script(name));
    await client.query(`insert into ${versions} (version) values ($1)`, [index + 1]);
  }
}
