import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { ContentOwner, ContentRef, ContentStore } from '@sluice/core';
import type { Backend, Draft, Mark, Stored } from '../backend.js';
import { codeOf, textOf, unreachable } from '../faults.js';
import { ownerKey } from '../refs.js';
import { Spool } from '../spool.js';
import { storeOn } from '../store.js';
import type { StoreOptions } from '../store.js';
import { migrate } from './migrations.js';

export interface PostgresContentOptions extends StoreOptions {
  /** As the ledger's. */
  readonly url: string;
  /** Where the tables are, made if it is not there. Default `public`. */
  readonly schema?: string;
  /** This process, as the database's list of connections shows it. */
  readonly instance: string;
}

/** Bytes of a part. */
const partBytes = 262_144;
const connections = 6;

const settings = [
  'synchronous_commit=on',
  'default_transaction_isolation=read\\ committed',
  // All statements are for certain keys; a server that has not measured a table yet would read the whole of it.
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'jit=off',
];

/**
 * Content in PostgreSQL 13 or later, for any number of processes. Brings its tables to this version first. Rejects
 * with Fault('content_unreachable') where they cannot be had.
 */
export async function openPostgresContent(options: PostgresContentOptions): Promise<ContentStore> {
  const { url, schema = 'public', instance } = options;
  const config = {
    connectionString: url,
    application_name: `sluice ${instance} content`,
    options: settings.map((setting) => `-c ${setting}`).join(' '),
    connectionTimeoutMillis: 5_000,
    statement_timeout: 10_000,
    query_timeout: 12_000,
    // A writer that ended without a word.
    idle_in_transaction_session_timeout: 120_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    max: connections,
  };
  await attempt(() => migrate(config, schema));
  const pool = new pg.Pool(config);
  // An idle connection that broke; the next statement opens another.
  pool.on('error', () => undefined);
  try {
    return await storeOn(new Tables(pool, pg.escapeIdentifier(schema)), options);
  } catch (error) {
    await pool.end();
    throw error;
  }
}

interface Row {
  readonly hash: string;
  readonly head: string;
  readonly body: string;
}

interface DueRow {
  readonly ref: string;
  readonly due_at: string;
  readonly named: boolean;
}

class Tables implements Backend {
  constructor(
    private readonly pool: pg.Pool,
    readonly schema: string,
  ) {}

  async ownKey(): Promise<Buffer> {
    const table = `${this.schema}.sluice_content_key`;
    await this.query(`insert into ${table} values (1, $1) on conflict do nothing`, [randomBytes(32)]);
    const [row] = await this.query<{ bytes: Buffer }>(`select bytes from ${table} where one = 1`, []);
    return (row as { bytes: Buffer }).bytes;
  }

  begin(): Promise<Draft> {
    return Promise.resolve(new PartsDraft(this.pool, this.schema));
  }

  async find(ref: ContentRef): Promise<Stored | undefined> {
    const [row] = await this.query<Row>(
      `select hash, head, body from ${this.schema}.sluice_content where owner = $1 and hash = $2`,
      [ownerKey(ref), ref.hash],
    );
    return row === undefined ? undefined : { head: row.head, read: () => this.read(row.body) };
  }

  async list(owner: ContentOwner) {
    const rows = await this.query<Row>(`select hash, head from ${this.schema}.sluice_content where owner = $1`, [
      ownerKey(owner),
    ]);
    return rows.map(({ hash, head }) => [hash, head] as const);
  }

  async remove(ref: ContentRef, writtenUntil: number): Promise<void> {
    await this.query(
      `with gone as (
        delete from ${this.schema}.sluice_content where owner = $1 and hash = $2 and written_at <= $3 returning body
      ) delete from ${this.schema}.sluice_content_parts using gone where sluice_content_parts.body = gone.body`,
      [ownerKey(ref), ref.hash, writtenUntil],
    );
  }

  async removeAll(owner: ContentOwner): Promise<void> {
    await this.query(
      `with gone as (delete from ${this.schema}.sluice_content where owner = $1 returning body)
      delete from ${this.schema}.sluice_content_parts using gone where sluice_content_parts.body = gone.body`,
      [ownerKey(owner)],
    );
  }

  async due(now: number, most: number): Promise<readonly Mark[]> {
    const rows = await this.query<DueRow>(
      `select ref, due_at, named from ${this.schema}.sluice_content where due_at <= $1 order by due_at limit $2`,
      [now, most],
    );
    return rows.map(({ ref, due_at: at, named }) => ({ ref: JSON.parse(ref) as ContentRef, at: Number(at), named }));
  }

  async mark({ ref, at, named }: Mark): Promise<void> {
    await this.query(
      `update ${this.schema}.sluice_content set due_at = $3, named = $4 where owner = $1 and hash = $2`,
      [ownerKey(ref), ref.hash, at, named],
    );
  }

  async unmark({ ref, at }: Mark): Promise<void> {
    await this.query(
      `update ${this.schema}.sluice_content set due_at = null where owner = $1 and hash = $2 and due_at = $3`,
      [ownerKey(ref), ref.hash, at],
    );
  }

  /** What was not finished was one transaction, and is not there. */
  tidy(): Promise<void> {
    return Promise.resolve();
  }

  async check(): Promise<void> {
    await this.query(`select nextval('${this.schema.replaceAll("'", "''")}.sluice_content_bodies')`, []);
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  private async *read(body: string): AsyncIterable<Uint8Array> {
    for (let part = 0; ; part++) {
      const [row] = await this.query<{ bytes: Buffer }>(
        `select bytes from ${this.schema}.sluice_content_parts where body = $1 and part = $2`,
        [body, part],
      );
      if (row === undefined) return;
      yield row.bytes;
    }
  }

  private query<T extends pg.QueryResultRow>(text: string, values: readonly unknown[]): Promise<readonly T[]> {
    return attempt(async () => (await this.pool.query<T>(text, [...values])).rows);
  }
}

/** Written in one transaction at the end: a source that is slow holds no connection. */
class PartsDraft implements Draft {
  private readonly spool = new Spool();

  constructor(
    private readonly pool: pg.Pool,
    private readonly schema: string,
  ) {}

  append(bytes: Uint8Array): Promise<void> {
    return attempt(() => this.spool.append(bytes));
  }

  finish(ref: ContentRef, head: string, writtenAt: number, mark: Mark): Promise<void> {
    return attempt(async () => {
      const client = await this.pool.connect();
      // What ends the connection between two statements is seen by the next one.
      client.on('error', ignored);
      try {
        await this.write(client, ref, head, writtenAt, mark);
      } catch (error) {
        // The connection goes with what it holds.
        client.release(true);
        throw error;
      }
      client.off('error', ignored);
      client.release();
      await this.spool.close();
    });
  }

  abandon(): Promise<void> {
    return this.spool.close().catch(() => undefined);
  }

  private async write(
    client: pg.PoolClient,
    ref: ContentRef,
    head: string,
    writtenAt: number,
    mark: Mark,
  ): Promise<void> {
    const owner = ownerKey(ref);
    await client.query('begin');
    const body = await this.writeParts(client);
    // Two writers of the same content take turns, so that the second one sees what it replaces.
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${owner}${ref.hash}`]);
    await client.query(
      `delete from ${this.schema}.sluice_content_parts
      where body = (select body from ${this.schema}.sluice_content where owner = $1 and hash = $2)`,
      [owner, ref.hash],
    );
    await client.query(
      `insert into ${this.schema}.sluice_content (owner, hash, ref, head, body, written_at, due_at, named)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      on conflict (owner, hash) do update set head = excluded.head, body = excluded.body,
        written_at = excluded.written_at, due_at = excluded.due_at, named = excluded.named`,
      [owner, ref.hash, JSON.stringify(ref), head, body, writtenAt, mark.at, mark.named],
    );
    await client.query('commit');
  }

  /** Returns the number that its parts are found by. */
  private async writeParts(client: pg.PoolClient): Promise<string> {
    const { rows } = await client.query<{ body: string }>(
      `select nextval('${this.schema.replaceAll("'", "''")}.sluice_content_bodies') as body`,
    );
    const { body } = rows[0] as { body: string };
    const all = this.spool.body();
    let part = 0;
    for await (const bytes of Buffer.isBuffer(all) ? partsOf(all) : all)
      await client.query(`insert into ${this.schema}.sluice_content_parts values ($1, $2, $3)`, [body, part++, bytes]);
    return body;
  }
}

function* partsOf(bytes: Buffer): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes);
}

const ignored = (): void => undefined;

async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw unreachable('The database of content', complaint(error), error);
  }
}

/** Never with the address, which has a password in it. */
function complaint(error: unknown): string {
  switch (codeOf(error)) {
    case '53100':
      return 'has no room left: its disk is full. Free some space; the work goes on by itself.';
    case '42501':
      return `does not let this user do this: ${textOf(error)}. Grant it, or name another schema.`;
    case '25006':
      return 'takes no writes: it is a standby, or read-only. Name the primary in its URL.';
    case 'ENOSPC':
      return 'was not reached: the folder for temporary files is full. Free some space.';
    case 'ECONNREFUSED':
      return 'refuses connections. Start it, or correct its address.';
    default:
      return `failed: ${textOf(error)}. See its log.`;
  }
}
