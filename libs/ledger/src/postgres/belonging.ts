import pg from 'pg';
import type { Belonging } from '../belonging.js';
import { unreachable } from './database-error.js';
import type { DatabaseAddress } from './database-error.js';

/** The one row that says it. Asked when a process starts, which tries again itself. */
export function belongingOn(
  pool: pg.Pool,
  schema: string,
  { place, requireOpen }: { readonly place: DatabaseAddress; readonly requireOpen: () => void },
): Belonging {
  const table = `${pg.escapeIdentifier(schema)}.sluice_belonging`;
  const ask = async (text: string, values: readonly string[] = []): Promise<readonly { readonly log: string }[]> => {
    requireOpen();
    try {
      return (await pool.query<{ log: string }>(text, [...values])).rows;
    } catch (error) {
      throw unreachable(place, error);
    }
  };
  const put = `insert into ${table} as b values (1, $1) on conflict (one) do update set log = excluded.log`;
  return {
    find: async () => (await ask(`select log from ${table} where one = 1`))[0]?.log ?? null,
    take: async (log) => void (await ask(`${put} where b.log = ''`, [log])),
    change: async (log) => void (await ask(put, [log])),
  };
}
