import pg from 'pg';
import type { ClaimRequest } from '@sluice/core';
import { storedKey } from './stored-text.js';

/** A claim as the table has it. */
export interface Stored {
  readonly owner: string;
  readonly value: string | null;
  readonly claimedAt: number;
  readonly expiresAt: number;
}

export interface Outcome {
  readonly key: string;
  readonly owner: string;
  readonly value: string;
}

export interface Ownership {
  readonly key: string;
  readonly owner: string;
}

interface Row {
  /** Null in the one row that says that the placement is another. */
  readonly key: string | null;
  readonly owner: string;
  readonly value: string | null;
  /** pg gives a bigint as text. */
  readonly claimed_at: string;
  readonly expires_at: string;
}

export type Statements = ReturnType<typeof statementsOn>;

/** The database has another placement of claims than the statement was meant for. It did nothing. */
export class PlacementChanged extends Error {}

/** With the version of the placement by which its place was chosen. */
export type Versioned<Asked> = Asked & { readonly version: number };

/** A database never has an older placement than one of those that are in use, so the oldest of a batch must be its. */
function oldestOf(batch: readonly Versioned<unknown>[]): number {
  return batch.reduce((least, { version }) => Math.min(least, version), Infinity);
}

/** Expired claims that one statement deletes, at most. */
export const sweepPortion = 1_000;

/**
 * The ledger's statements. Each is a transaction of its own, and each takes its row locks in the order of the keys
 * (by bytes) or does not wait for them, so that batches of different processes cannot deadlock. Only the claim is
 * prepared by name, whose plan is the same at any size of the table: a plan kept from when the table was small would
 * read the whole of it for the others later.
 */
export function statementsOn(pool: pg.Pool, schema: string) {
  const claims = `${pg.escapeIdentifier(schema)}.sluice_claims`;
  const placement = `${pg.escapeIdentifier(schema)}.sluice_placement`;
  const inForce = (version: string): string => `select from ${placement} where one = 1 and version = ${version}::int`;
  const changed = `select null::text, '', null::text, 0::bigint, 0::bigint`;
  const query = async (
    text: string,
    values: unknown[],
    name?: string,
    client: Pick<pg.Pool, 'query'> | pg.PoolClient = pool,
  ): Promise<ReadonlyMap<string, Stored>> => {
    const { rows } = await client.query<Row>({ text, values, ...(name === undefined ? {} : { name }) });
    return new Map(
      rows.map((row) => {
        if (row.key === null) throw new PlacementChanged('The placement of claims is another one here.');
        return [row.key, storedOf(row)];
      }),
    );
  };

  // What is held is read off the snapshot and locks nothing; the limit, of which a key has no need, has it read key
  // by key. The rest is inserted; where another process was faster since the snapshot, the row that is there now is
  // written as it is, because only a row that is written is returned in its newest form. What is inserted is
  // fenced: it locks the row of the placement until its commit, and a change of the placement waits for that.
  const stale = 'c.expires_at <= excluded.claimed_at';
  const claim = `
    with asked as materialized (
      select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $6::text[])
        as a (key, owner, claimed_at, expires_at, value)
    ), held as materialized (
      select c.* from asked a cross join lateral (select * from ${claims} where key = a.key limit 1) c
      where c.expires_at > a.claimed_at
    ), missing as materialized (
      select a.* from asked a where not exists (select from held h where h.key = a.key)
    ), fence as materialized (
      select version from ${placement} where one = 1 and version = $5::int and exists (select from missing)
      for key share
    ), won as (
      insert into ${claims} as c (key, owner, value, claimed_at, expires_at)
      select a.key, a.owner, a.value, a.claimed_at, a.expires_at from missing a cross join fence
      order by a.key collate "C"
      on conflict (key) do update set
        owner = case when ${stale} then excluded.owner else c.owner end,
        value = case when ${stale} then excluded.value else c.value end,
        claimed_at = case when ${stale} then excluded.claimed_at else c.claimed_at end,
        expires_at = case when ${stale} then excluded.expires_at else c.expires_at end
      returning c.*
    )
    select key, owner, value, claimed_at, expires_at from held
    union all select key, owner, value, claimed_at, expires_at from won
    union all ${changed}
    where not exists (${inForce('$5')}) or (exists (select from missing) and not exists (select from fence))`;

  const settle = `
    with asked as materialized (
      select * from unnest($1::text[], $2::text[], $3::text[]) as a (key, owner, value)
    ), locked as materialized (
      select c.key from asked a join ${claims} c on c.key = a.key and c.owner = a.owner
      where exists (${inForce('$4')}) order by c.key for update of c
    ), done as (
      update ${claims} c set value = coalesce(c.value, a.value) from asked a join locked l on l.key = a.key
      where c.key = a.key and c.owner = a.owner
      returning c.key, c.owner, c.value, c.claimed_at, c.expires_at
    )
    select key, owner, value, claimed_at, expires_at from done
    union all ${changed} where not exists (${inForce('$4')})`;

  const release = `
    with done as (
      delete from ${claims} where key = any (array(
        select c.key from unnest($1::text[], $2::text[]) as a (key, owner)
        join ${claims} c on c.key = a.key and c.owner = a.owner
        where c.value is null and exists (${inForce('$3')}) order by c.key for update of c
      ))
      returning key, owner, value, claimed_at, expires_at
    )
    select key, owner, value, claimed_at, expires_at from done
    union all ${changed} where not exists (${inForce('$3')})`;

  const find = `
    select key, owner, value, claimed_at, expires_at from ${claims} where key = any ($1::text[])
    union all ${changed} where not exists (${inForce('$2')})`;

  const sweep = `
    delete from ${claims} where key = any (array(
      select key from ${claims} where expires_at <= $1 order by expires_at limit ${sweepPortion} for update skip locked
    ))`;

  return {
    /** On a client’s own transaction where there is one. */
    claim: (batch: readonly Versioned<ClaimRequest>[], client?: pg.PoolClient) =>
      query(
        claim,
        [
          batch.map(({ key }) => storedKey(key)),
          batch.map(({ owner }) => owner),
          batch.map(({ now }) => now),
          batch.map(({ now, ttlMs }) => now + ttlMs),
          oldestOf(batch),
          batch.map(({ value = null }) => value),
        ],
        'sluice_claim',
        client,
      ),
    /** Answers for those whose owner asked, with the value that was first. */
    settle: (batch: readonly Versioned<Outcome>[]) =>
      query(settle, [
        batch.map(({ key }) => storedKey(key)),
        batch.map(({ owner }) => owner),
        batch.map(({ value }) => value),
        oldestOf(batch),
      ]),
    /** Answers for those that were taken back. */
    release: (batch: readonly Versioned<Ownership>[]) =>
      query(release, [batch.map(({ key }) => storedKey(key)), batch.map(({ owner }) => owner), oldestOf(batch)]),
    find: (batch: readonly Versioned<{ readonly key: string }>[]) =>
      query(find, [batch.map(({ key }) => storedKey(key)), oldestOf(batch)]),
    /** Deletes one claim if it has expired by `now`, as the next sweep would. */
    retire: async (key: string, now: number) =>
      void (await pool.query(`delete from ${claims} where key = $1 and expires_at <= $2`, [storedKey(key), now])),
    /** How many went, `sweepPortion` at most. */
    sweep: async (now: number) => (await pool.query(sweep, [now])).rowCount ?? 0,
    /**
     * What time it is there, in milliseconds. Rejects if claims cannot be written now: it writes none, but the server
     * refuses it wherever it would refuse one.
     */
    probe: async () => {
      const { rows } = await pool.query<{ now: number }>(
        `with none as (update ${claims} set value = value where false)
         select extract(epoch from clock_timestamp())::float8 * 1000 as now`,
      );
      return rows[0]?.now ?? NaN;
    },
  };
}

function storedOf({ owner, value, claimed_at, expires_at }: Row): Stored {
  return { owner, value, claimedAt: Number(claimed_at), expiresAt: Number(expires_at) };
}
