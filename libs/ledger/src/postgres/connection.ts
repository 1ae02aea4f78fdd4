import pg from 'pg';
import { Fault } from '@sluice/core';
import type { DatabaseAddress } from './database-error.js';

/**
 * Milliseconds. The server ends a statement first; the longer limit on our side is for a server that says nothing any
 * more.
 */
const connectMs = 5_000;
const statementMs = 5_000;
const silenceMs = 6_000;

/** Calls that are counted side by side. */
export const countedAtOnce = 4;
/** Calls that are held against a span side by side. */
export const begunAtOnce = 4;
/**
 * One for each of the five batchers of claims, the two of documents and the three beside calls that begin, one for
 * `check`, and those that count: nothing ever queues for a connection.
 */
const connections = 11 + countedAtOnce + begunAtOnce;

const settings = [
  // A claim that was answered must be on the disk, whatever the server's default is.
  'synchronous_commit=on',
  'default_transaction_isolation=read\\ committed',
  // All statements are for certain keys; a server that has not measured the table yet would read the whole of it for
  // a batch.
  'enable_seqscan=off',
  // These two joins read the whole of an index for it.
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  // That makes every plan look dear, and a server with a compiler would compile each: 20 MB a connection, and longer
  // than the statement.
  'jit=off',
];

export interface Connection {
  readonly place: DatabaseAddress;
  readonly config: pg.PoolConfig;
}

/**
 * Where and how to connect; nothing is opened. Throws Fault('ledger_unreachable') for what is no address of
 * PostgreSQL.
 */
export function connectionTo(url: string, instance: string): Connection {
  const config = {
    connectionString: url,
    application_name: `sluice ${instance}`,
    options: settings.map((setting) => `-c ${setting}`).join(' '),
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    query_timeout: silenceMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    max: connections,
  };
  return { place: placeOf(config), config };
}

/** `onLost` hears of connections that broke while they were idle. */
export function poolOf({ config }: Connection, onLost: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool(config);
  pool.on('error', onLost);
  return pool;
}

function placeOf(config: pg.ClientConfig): DatabaseAddress {
  // The reason is not passed on: the parser's errors quote what they were given, password and all.
  const unusable = new Fault(
    'ledger_unreachable',
    'The address of the ledger’s database is not one of PostgreSQL. Write it as postgres://user:password@host:5432/database.',
    false,
  );
  if (!/^postgres(ql)?:\/\//.test(config.connectionString ?? '')) throw unusable;
  try {
    const { host, port, database, user } = new pg.Client(config);
    return { host, port, database: database ?? '', user: user ?? '' };
  } catch {
    throw unusable;
  }
}
