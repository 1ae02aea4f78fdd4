import type { Pool } from 'pg';
import type { PermissionSource } from '@sluice/core';
import { readFound } from './found.js';

/** Callers whose permissions are read side by side, and how long one statement may take, in milliseconds. */
const connections = 4;
const statementMs = 5_000;

/**
 * The users in a table or view of the ledger's PostgreSQL: `tenant`, `actor` (as in `user:ann`), `groups` and, if it
 * has it, `connections`, both arrays of text. It is read for each credential, so that a change of it holds at once.
 */
export function usersInTable(table: string, databaseUrl: string | null): PermissionSource {
  if (databaseUrl === null) return { find: () => Promise.reject(new Error(noDatabase)) };
  let text = '';
  let pool: Pool | undefined;
  // PostgreSQL’s client is loaded with the first question: most processes that read a configuration ask none.
  const opened = async (): Promise<Pool> => {
    const { default: pg } = await import('pg');
    if (pool !== undefined) return pool;
    const name = table.split('.').map(pg.escapeIdentifier).join('.');
    text = `select * from ${name} where tenant = $1 and actor = $2`;
    pool = new pg.Pool({
      connectionString: databaseUrl,
      application_name: 'sluice permissions',
      max: connections,
      connectionTimeoutMillis: statementMs,
      statement_timeout: statementMs,
      query_timeout: statementMs + 1_000,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
    });
    // A connection that breaks while it is idle is opened again by the next question.
    pool.on('error', () => undefined);
    return pool;
  };
  return {
    find: async ({ tenantId, actorId }) => {
      const source = await opened();
      const { rows } = await source.query<Record<string, unknown>>(text, [tenantId, actorId]);
      if (rows.length > 1) throw new Error(`it has ${rows.length} rows for one caller; make (tenant, actor) unique`);
      return rows[0] === undefined ? null : readFound(rows[0], 'the row of a caller');
    },
  };
}

const noDatabase = 'DATABASE_URL is not set, and the table is in that PostgreSQL. Set it, or name a `file`';
