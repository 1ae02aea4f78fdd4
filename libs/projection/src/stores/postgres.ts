import pg from 'pg';
import { Fault } from '@sluice/core';
import { migrations } from './tables.js';
import { leader } from './postgres-leader.js';
import type { Row, Statement, Store, Value } from './store.js';

export interface PostgresOptions {
  readonly url: string;
  /** Where the tables are, made if it is not there. */
  readonly schema: string;
  /** This process, as the database’s list of connections shows it. */
  readonly instance: string;
}

const connectMs = 5_000;
const statementMs = 15_000;
const connections = 6;
/** Statements that go to the server in one message. */
const statementsAtOnce = 500;

/** Any numbers, the same in every version: a process that migrates, writes or leads holds them. */
const locks = { migrate: 7_319_641, write: 7_319_642, lead: 7_319_643 } as const;

const settings = [
  // It can be rebuilt from the log.
  'synchronous_commit=off',
  // Pages are read in the order of an index, also before the server has measured the tables.
  'enable_seqscan=off',
  'enable_bitmapscan=off',
  // What is forgotten is found row by row, and not by reading all that is kept beside it.
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'jit=off',
];

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** The tables in PostgreSQL, shared by all instances. Rejects with Fault('storage') that says what to change. */
export async function postgresStore(options: PostgresOptions): Promise<Store> {
  const { url, schema, instance } = options;
  const config: pg.PoolConfig = {
    connectionString: url,
    application_name: `sluice lists ${instance}`,
    options: [...settings, `search_path=${pg.escapeIdentifier(schema)}`].map((setting) => `-c ${setting}`).join(' '),
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    query_timeout: statementMs + 1_000,
    keepAlive: true,
    max: connections,
    types,
  };
  await orFault(() => migrate({ ...config, statement_timeout: 0, query_timeout: 0 }, schema));
  const pool = new pg.Pool(config);
  // A statement on a connection that broke says so itself; the next one opens another.
  pool.on('error', () => undefined);
  return {
    all: (text, values) => orFault(async () => (await pool.query<Row>(numbered(text), values.map(storable))).rows),
    write: (statements) => orFault(() => write(pool, schema, statements)),
    lead: (signal, lost) => orFault(() => leader({ config, lock: locks.lead, schema, signal, lost })),
    close: () => (pool.ended ? Promise.resolve() : pool.end()),
  };
}

async function write(pool: pg.Pool, schema: string, statements: readonly Statement[]): Promise<void> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1, hashtext($2))', [locks.write, schema]);
    for (let from = 0; from < statements.length; from += statementsAtOnce) {
      const part = statements.slice(from, from + statementsAtOnce);
      await client.query(part.map(literal).join(';\n'));
    }
    await client.query('commit');
  } catch (error) {
    broken = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    // A connection that is thrown away undoes what it began.
    client.release(broken);
  }
}

async function migrate(config: pg.PoolConfig, schema: string): Promise<void> {
  const client = new pg.Client(config);
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1, hashtext($2))', [locks.migrate, schema]);
    const name = pg.escapeIdentifier(schema);
    const { rowCount } = await client.query('select from pg_namespace where nspname = $1', [schema]);
    if (rowCount === 0) await client.query(`create schema ${name}`);
    await client.query(
      `create table if not exists ${name}.migrations (version int primary key, applied_at timestamptz not null default now())`,
    );
    const { rows } = await client.query<{ version: number }>(
      `select coalesce(max(version), 0)::int as version from ${name}.migrations`,
    );
    const version = rows[0]?.version ?? 0;
    const scripts = migrations('postgres');
    if (version > scripts.length) {
      const versions = `its format is ${version}, this version knows ${scripts.length}`;
      const why = `was written by a newer version (${versions}). Update, or drop the schema: the lists are rebuilt from the log`;
      throw new Fault('storage', `The projection in the schema ${schema} ${why}.`, false);
    }
    for (const [index, script] of scripts.entries()) {
      if (index < version) continue;
      await client.query(script);
      await client.query(`insert into ${name}.migrations (version) values ($1)`, [index + 1]);
    }
    await client.query('commit');
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** `?` as PostgreSQL numbers it; no text of a statement has one that is no placeholder. */
function numbered(text: string): string {
  let count = 0;
  return text.replaceAll('?', () => `$${++count}`);
}

function literal({ text, values }: Statement): string {
  let at = 0;
  return text.replaceAll('?', () => {
    const value = storable(values[at++] ?? null);
    if (value === null) return 'NULL';
    return typeof value === 'number' ? String(value) : pg.escapeLiteral(value);
  });
}

/** PostgreSQL keeps no NUL and no half of a surrogate pair in a text. */
function storable(value: Value): Value {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value;
}

/**
 * SQLSTATE classes that no waiting mends: data, constraints, authorization, unknown database or schema, syntax and
 * access rights.
 */
const lasting = /^(?:22|23|28|3D|3F|42)/;

async function orFault<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Fault) throw error;
    const code = error instanceof pg.DatabaseError ? (error.code ?? '') : '';
    const text =
      error instanceof Error && error.message !== '' ? error.message : String((error as { code?: unknown }).code);
    const message = `The projection’s database cannot be used: ${text.replace(/\.$/, '')}. See that DATABASE_URL and its user’s rights are right, and that the database runs.`;
    throw new Fault('storage', message, !lasting.test(code), { cause: error });
  }
}
