import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** A prefix for the topics, groups and transactional ids of one test: lower case, digits and `-`, different each time. */
export function freshPrefix(name = 'test'): string {
  return `${name}-${randomBytes(6).toString('hex')}-`;
}

export interface FreshDatabase {
  readonly url: string;
  /** Drops it, whoever is still connected. */
  drop(): Promise<void>;
}

/** An empty database of the test's own on the server of `databaseUrl`, whose user must be allowed to create databases. */
export async function freshDatabase(databaseUrl: string): Promise<FreshDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await run(databaseUrl, `create database ${name}`);
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(databaseUrl, `drop database if exists ${name} with (force)`) };
}

async function run(databaseUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
