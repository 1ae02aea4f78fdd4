import pg from 'pg';
import type { CountedDocuments, StoredDocument } from '@sluice/core';
import { keyBehind } from '../stored-key.js';
import { Batcher } from './batcher.js';
import type { Patience } from './batcher.js';
import { sweepPortion } from './statements.js';
import { requireMilliseconds, requireText, storedKey } from './stored-text.js';

interface Asked {
  readonly key: string;
  readonly version: number;
  readonly text: string;
  readonly expiresAt: number | null;
}

interface Row {
  readonly key: string;
  readonly version: number;
  readonly text: string;
  /** pg gives a bigint as text. */
  readonly expires_at: string | null;
}

const findsAtOnce = 50;

/**
 * The documents beside the claims, on the ledger’s pool and with its patience. `requireOpen` throws once the ledger
 * is closed.
 */
export function documentsOn(
  pool: pg.Pool,
  schema: string,
  patience: Patience,
  requireOpen: () => void,
): CountedDocuments & { close(): Promise<void> } {
  const documents = `${pg.escapeIdentifier(schema)}.sluice_documents`;
  // Run twice, it answers the same: after a broken connection the text may stand there already.
  const put = `
    insert into ${documents} as d (key, version, text, expires_at) select $1, $2::int, $3, $4::bigint
    where $2::int = 1 or exists (select from ${documents} where key = $1)
    on conflict (key) do update set version = excluded.version, text = excluded.text, expires_at = excluded.expires_at
    where d.version = excluded.version - 1 or (d.version = excluded.version and d.text = excluded.text)
    returning key`;
  const sweep = `
    delete from ${documents} where key = any (array(
      select key from ${documents} where expires_at <= $1 order by expires_at limit ${sweepPortion} for update skip locked
    ))`;

  const under = `from ${documents} where key >= $1 and key < $2 and (expires_at is null or expires_at > $3)`;

  const puts = new Batcher<Asked, true>(
    {
      limit: 1,
      keyOf: ({ key }) => storedKey(key),
      run: async (batch) => {
        const written = new Map<string, true>();
        for (const { key, version, text, expiresAt } of batch) {
          const { rows } = await pool.query<{ key: string }>(put, [storedKey(key), version, text, expiresAt]);
          for (const row of rows) written.set(row.key, true);
        }
        return written;
      },
      serves: () => false,
    },
    patience,
  );
  const finds = new Batcher<string, StoredDocument>(
    {
      limit: findsAtOnce,
      keyOf: storedKey,
      run: async (keys) => {
        const { rows } = await pool.query<Row>(
          `select key, version, text, expires_at from ${documents} where key = any ($1::text[])`,
          [keys.map(storedKey)],
        );
        return new Map(
          rows.map(({ key, version, text, expires_at: at }) => [
            key,
            { version, text, expiresAt: at === null ? null : Number(at) },
          ]),
        );
      },
      serves: () => true,
    },
    patience,
  );
  const sweeps = new Batcher<number, number>(
    {
      limit: 1,
      keyOf: String,
      run: async ([now = 0]) => new Map([[String(now), (await pool.query(sweep, [now])).rowCount ?? 0]]),
      serves: () => false,
    },
    patience,
  );

  return {
    find: async (key) => {
      requireOpen();
      return finds.ask(key);
    },
    put: async (key, version, text, expiresAt) => {
      requireOpen();
      requireText('A document', text);
      if (expiresAt !== null) requireMilliseconds('The time when a document may go', expiresAt);
      return (await puts.ask({ key, version, text, expiresAt })) === true;
    },
    // Asked when a client begins something, which hears at once that the database is away.
    tally: async (prefix, now, first) => {
      requireOpen();
      requireMilliseconds('The time of a tally', now);
      const range = [prefix, keyBehind(prefix), now];
      try {
        const [counted, keys] = await Promise.all([
          pool.query<{ count: number }>(`select count(*)::int as count ${under}`, range),
          pool.query<{ key: string }>(`select key ${under} order by expires_at, key limit $4`, [...range, first]),
        ]);
        return { count: counted.rows[0]?.count ?? 0, first: keys.rows.map(({ key }) => key) };
      } catch (error) {
        throw patience.faultOf(error);
      }
    },
    sweep: async (now) => {
      requireOpen();
      requireMilliseconds('The time of a sweep', now);
      while ((await sweeps.ask(now)) === sweepPortion) requireOpen();
    },
    close: async () => void (await Promise.all([puts, finds, sweeps].map((batcher) => batcher.close()))),
  };
}
