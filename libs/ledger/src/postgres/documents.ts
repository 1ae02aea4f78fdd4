import pg from 'pg';
import type { Documents, StoredDocument } from '@sluice/core';
import { Lane } from './lane.js';
import type { Patience } from './lane.js';
import { requireText, storedKey } from './stored-text.js';

interface Asked {
  readonly key: string;
  readonly version: number;
  readonly text: string;
}

interface Row {
  readonly key: string;
  readonly version: number;
  readonly text: string;
}

const findsAtOnce = 50;

/** The documents beside the claims, on the ledger’s pool and with its patience. `requireOpen` throws once the ledger is closed. */
export function documentsOn(
  pool: pg.Pool,
  schema: string,
  patience: Patience,
  requireOpen: () => void,
): Documents & { close(): Promise<void> } {
  const documents = `${pg.escapeIdentifier(schema)}.sluice_documents`;
  // Run twice, it answers the same: after a broken connection the text may stand there already.
  const put = `
    insert into ${documents} as d (key, version, text) select $1, $2::int, $3
    where $2::int = 1 or exists (select from ${documents} where key = $1)
    on conflict (key) do update set version = excluded.version, text = excluded.text
    where d.version = excluded.version - 1 or (d.version = excluded.version and d.text = excluded.text)
    returning key`;

  const puts = new Lane<Asked, true>(
    {
      limit: 1,
      keyOf: ({ key }) => storedKey(key),
      run: async (batch) => {
        const written = new Map<string, true>();
        for (const { key, version, text } of batch) {
          const { rows } = await pool.query<{ key: string }>(put, [storedKey(key), version, text]);
          for (const row of rows) written.set(row.key, true);
        }
        return written;
      },
      serves: () => false,
    },
    patience,
  );
  const finds = new Lane<string, StoredDocument>(
    {
      limit: findsAtOnce,
      keyOf: storedKey,
      run: async (keys) => {
        const { rows } = await pool.query<Row>(
          `select key, version, text from ${documents} where key = any ($1::text[])`,
          [keys.map(storedKey)],
        );
        return new Map(rows.map(({ key, version, text }) => [key, { version, text }]));
      },
      serves: () => true,
    },
    patience,
  );

  return {
    find: async (key) => {
      requireOpen();
      return finds.ask(key);
    },
    put: async (key, version, text) => {
      requireOpen();
      requireText('A document', text);
      return (await puts.ask({ key, version, text })) === true;
    },
    close: async () => void (await Promise.all([puts.close(), finds.close()])),
  };
}
