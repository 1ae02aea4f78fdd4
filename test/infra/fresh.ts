import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { requirePlans, watchStatements } from './postgres-plans.ts';

/**
 * A prefix for the topics, groups and transactional ids of one test: lower case, digits and `-`, different each time.
 */
export function freshPrefix(name = 'test'): string {
  return `${name}-${randomBytes(6).toString('hex')}-`;
}

export interface FreshDatabase {
  readonly url: string;
  /**
   * Drops it, also while connections to it are open. Rejects if the project’s code sent a statement that reads the
   * whole of a table that grows.
   */
  drop(): Promise<void>;
}

/**
 * An empty database of the test's own on the server of `databaseUrl`, whose user must be allowed to create databases.
 */
export async function freshDatabase(databaseUrl: string): Promise<FreshDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await run(databaseUrl, `create database ${name}`);
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  watchStatements();
  const drop = async (): Promise<void> => {
    try {
      await requirePlans(url.href);
    } finally {
      await run(databaseUrl, `drop database if exists ${name} with (force)`);
    }
  };
  return { url: url.href, drop };
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
