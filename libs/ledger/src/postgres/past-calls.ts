import { createHash } from 'node:crypto';
import pg from 'pg';
import type {
  ClaimRequest,
  CountedItem,
  PastAnswer,
  PastCalls,
  PastCount,
  PastLimit,
  PastOutcome,
  PastRequest,
} from '@sluice/core';
import { firstOver } from '../past-limits.js';
import { Batcher } from './batcher.js';
import type { BatchWork, Patience } from './batcher.js';
import { begunAtOnce } from './connection.js';
import { sweepPortion } from './statements.js';
import type { VersionedPast } from './spread-claims.js';
import type { Versioned, Statements } from './statements.js';
import { requireMilliseconds, storedKey } from './stored-text.js';

interface Parts {
  readonly statements: Pick<Statements, 'claim'>;
  readonly patience: Patience;
  /** Throws once the ledger is closed. */
  readonly requireOpen: () => void;
}

type VersionedRequest = PastRequest & { readonly version: number };

interface Ended {
  readonly callKey: string;
  readonly outcome: PastOutcome;
  readonly amounts: Readonly<Record<string, bigint>>;
}

interface Kept {
  readonly callKey: string;
  readonly until: number;
}

interface CountRow {
  readonly calls: number;
  readonly succeeded: number;
  readonly running: number;
  readonly last: PastCount['last'];
  readonly amount: string;
}

/** Behind all ids. */
const behindAll = (2n ** 63n - 1n).toString();

/**
 * Calls of the past on the ledger’s pool. Calls that count for the same scope begin one after another: each holds the
 * scope’s lock until its transaction ends, and takes its locks in one order. Run twice, each statement answers the
 * same.
 */
export function pastCallsOn(
  pool: pg.Pool,
  schema: string,
  { statements, patience, requireOpen }: Parts,
): Omit<PastCalls, 'begin'> & VersionedPast & { close(): Promise<void> } {
  const table = `${pg.escapeIdentifier(schema)}.sluice_past_calls`;
  const own = `select min(id)::text as id, bool_and(outcome is not null) as ended from ${table} where call_key = $1`;
  const used = `
    select coalesce((
      select sum(p.amount) from ${table} p
      where p.scope = a.scope and p.item = a.item and p.at > a.since and p.id < $5::bigint
        and (not a.running_only or (p.outcome is null and p.running_until > $6::bigint))
    ), 0)::text as used
    from unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[]) with ordinality
      as a (scope, item, since, running_only, place)
    order by a.place`;
  const put = `
    insert into ${table} (call_key, scope, item, amount, at, running_until, expires_at)
    select $1, a.scope, a.item, a.amount, $5::bigint, $6::bigint, $7::bigint
    from unnest($2::text[], $3::text[], $4::bigint[]) as a (scope, item, amount)`;
  const giveBack = `delete from ${table} where call_key = $1 and outcome is null`;
  const end = `
    update ${table} p set outcome = $2, amount = coalesce(
      (select a.amount from unnest($3::text[], $4::bigint[]) as a (item, amount) where a.item = p.item limit 1), p.amount)
    where p.call_key = $1 and p.outcome is null`;
  const keepRunning = `
    update ${table} set running_until = greatest(running_until, $2::bigint) where call_key = $1 and outcome is null`;
  const read = `
    select counted.*, (
      select p.outcome from ${table} p
      where p.scope = a.scope and p.item = a.item and p.at > a.since and p.outcome is not null
        and p.call_key is distinct from $5::text
      order by p.id desc limit 1) as last
    from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality as a (scope, item, since, place)
    cross join lateral (
      select count(*)::int as calls, count(*) filter (where p.outcome = 'succeeded')::int as succeeded,
        count(*) filter (where p.outcome is null and p.running_until > $4::bigint)::int as running,
        coalesce(sum(p.amount), 0)::text as amount
      from ${table} p
      where p.scope = a.scope and p.item = a.item and p.at > a.since and p.call_key is distinct from $5::text) as counted
    order by a.place`;
  // Behind the newest marks that have room together: the time of the first that has none.
  const blocking = `
    select max(at)::text as at from (
      select p.at, sum(p.amount) over (order by p.at desc, p.id desc) as total from ${table} p
      where p.scope = $1 and p.item = any ($2::text[]) and p.at > $3::bigint
    ) as marks where total > $4::numeric`;
  const sweep = `
    delete from ${table} where id = any (array(
      select id from ${table} where expires_at <= $1 order by expires_at limit ${sweepPortion} for update skip locked
    ))`;

  const lockOf = (scope: string): bigint =>
    createHash('sha256')
      .update(JSON.stringify([schema, storedKey(scope)]))
      .digest()
      .readBigInt64BE();

  async function begin(client: pg.PoolClient, request: VersionedRequest): Promise<PastAnswer> {
    const { callKey, now, keepMs, runningMs, marks, limits, claim, version } = request;
    const scopes = new Set([...marks, ...limits].map(({ scope }) => lockOf(scope)));
    const locks = [...scopes].sort((a, b) => (a < b ? -1 : 1)).map((lock) => `select pg_advisory_xact_lock(${lock})`);
    await client.query(['begin', ...locks].join('; '));
    const claimed = claim === null ? null : await claimWith(client, { ...claim, version });
    if (claim !== null && claimed !== null && claimed.owner !== claim.owner) return { kind: 'held', claim: claimed };
    const [before] = (await client.query<{ id: string | null; ended: boolean | null }>(own, [storedKey(callKey)])).rows;
    const mine = before?.id ?? null;
    const amounts = await usedBy(client, limits, mine ?? behindAll, now);
    // What it reserved once it may use, whatever was counted since.
    const limit = mine === null ? firstOver(limits, amounts) : -1;
    if (limit !== -1) return { kind: 'over', used: amounts, limit };
    if (mine === null && marks.length > 0)
      await client.query(put, [
        storedKey(callKey),
        marks.map(({ scope }) => storedKey(scope)),
        marks.map(({ item }) => storedKey(item)),
        marks.map(({ amount }) => amount.toString()),
        ...[now, now + runningMs, now + keepMs],
      ]);
    await client.query('commit');
    return { kind: 'begun', used: amounts, claim: claimed, ...(before?.ended === true ? { hasEnded: true } : {}) };
  }

  async function claimWith(client: pg.PoolClient, claim: Versioned<ClaimRequest>) {
    const [stored] = (await statements.claim([claim], client)).values();
    return stored === undefined ? null : { key: claim.key, ...stored };
  }

  async function usedBy(
    client: pg.PoolClient,
    limits: readonly PastLimit[],
    before: string,
    now: number,
  ): Promise<readonly bigint[]> {
    if (limits.length === 0) return [];
    const flat = limits.flatMap((limit, place) => limit.items.map((item) => ({ ...limit, item, place })));
    const { rows } = await client.query<{ used: string }>(used, [
      flat.map(({ scope }) => storedKey(scope)),
      flat.map(({ item }) => storedKey(item)),
      flat.map(({ since }) => since),
      flat.map(({ isRunningOnly }) => isRunningOnly),
      ...[before, now],
    ]);
    const sums = limits.map(() => 0n);
    for (const [at, { place }] of flat.entries()) sums[place] = (sums[place] ?? 0n) + BigInt(rows[at]?.used ?? 0);
    return sums;
  }

  async function inTransaction(request: VersionedRequest): Promise<PastAnswer> {
    const client = await pool.connect();
    let answer: PastAnswer | undefined;
    try {
      answer = await begin(client, request);
      if (answer.kind !== 'begun') await client.query('rollback');
      return answer;
    } finally {
      // A connection that broke in the middle of it is closed, which undoes what it did.
      client.release(answer === undefined);
    }
  }

  const batcher = <Asked, Answer>(work: BatchWork<Asked, Answer>): Batcher<Asked, Answer> =>
    new Batcher(work, patience);
  const begins = batcher<VersionedRequest, PastAnswer>({
    limit: begunAtOnce,
    keyOf: ({ callKey }) => storedKey(callKey),
    run: async (batch) => {
      const work = batch.map(async (one) => [storedKey(one.callKey), await inTransaction(one)] as const);
      // None is asked again while the others still hold their locks.
      const ends = await Promise.allSettled(work);
      const failed = ends.find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
      return new Map(ends.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
    },
    serves: () => false,
  });
  const ends = batcher<Ended, true>({
    limit: 1,
    keyOf: ({ callKey }) => storedKey(callKey),
    run: async (batch) => {
      for (const { callKey, outcome, amounts } of batch) {
        const key = storedKey(callKey);
        if (outcome === 'none') await pool.query(giveBack, [key]);
        else
          await pool.query(end, [
            ...[key, outcome],
            Object.keys(amounts).map(storedKey),
            Object.values(amounts).map(String),
          ]);
      }
      return new Map(batch.map(({ callKey }) => [storedKey(callKey), true] as const));
    },
    serves: () => false,
  });
  const keeps = batcher<Kept, true>({
    limit: 1,
    keyOf: ({ callKey }) => storedKey(callKey),
    run: async (batch) => {
      for (const { callKey, until } of batch) await pool.query(keepRunning, [storedKey(callKey), until]);
      return new Map(batch.map(({ callKey }) => [storedKey(callKey), true] as const));
    },
    serves: () => false,
  });
  const reads = batcher<ReadRequest, readonly PastCount[]>({
    limit: 1,
    keyOf: keyOfRead,
    run: async (batch) => {
      const answers = new Map<string, readonly PastCount[]>();
      for (const one of batch) {
        const { rows } = await pool.query<CountRow>(read, [
          one.asked.map(({ scope }) => storedKey(scope)),
          one.asked.map(({ item }) => storedKey(item)),
          one.asked.map(({ since }) => since),
          ...[one.now, one.except === null ? null : storedKey(one.except)],
        ]);
        const counts = rows.map(({ amount, ...row }) => ({ ...row, amount: BigInt(amount) }));
        answers.set(keyOfRead(one), counts);
      }
      return answers;
    },
    serves: () => false,
  });

  const blocks = batcher<PastLimit, string | null>({
    limit: 1,
    keyOf: blockKey,
    run: async (batch) => {
      const answers = new Map<string, string | null>();
      for (const one of batch) {
        const { scope, items, since, adds, atMost } = one;
        const given = [storedKey(scope), items.map(storedKey), since, (atMost - adds).toString()];
        const { rows } = await pool.query<{ at: string | null }>(blocking, given);
        answers.set(blockKey(one), rows[0]?.at ?? null);
      }
      return answers;
    },
    serves: () => false,
  });

  return {
    begin: async (request) => {
      requireOpen();
      requireMilliseconds('The time of a call', request.now);
      return (await begins.ask(request)) as PastAnswer;
    },
    end: async (callKey, outcome, amounts = {}) => {
      requireOpen();
      await ends.ask({ callKey, outcome, amounts });
    },
    blockedBy: async (limit) => {
      requireOpen();
      if (limit.adds > limit.atMost) return null;
      const at = await blocks.ask(limit);
      return at === null || at === undefined ? null : Number(at);
    },
    keepRunning: async (callKey, until) => {
      requireOpen();
      requireMilliseconds('The time until which a call counts as running', until);
      await keeps.ask({ callKey, until });
    },
    read: async (asked, now, except = null) => {
      requireOpen();
      requireMilliseconds('The time of a look at past calls', now);
      return asked.length === 0 ? [] : ((await reads.ask({ asked, now, except })) as readonly PastCount[]);
    },
    sweep: async (now) => {
      requireOpen();
      requireMilliseconds('The time of a sweep', now);
      for (let swept = sweepPortion; swept === sweepPortion;) {
        requireOpen();
        swept = await pool.query(sweep, [now]).then(
          ({ rowCount }) => rowCount ?? 0,
          (error: unknown) => {
            throw patience.faultOf(error);
          },
        );
      }
    },
    close: async () => void (await Promise.all([begins, ends, keeps, reads, blocks].map((one) => one.close()))),
  };
}

interface ReadRequest {
  readonly asked: readonly (CountedItem & { readonly since: number })[];
  readonly now: number;
  readonly except: string | null;
}

function keyOfRead({ asked, now, except }: ReadRequest): string {
  return JSON.stringify([asked, now, except]);
}

function blockKey({ scope, items, since, adds, atMost }: PastLimit): string {
  return JSON.stringify([scope, items, since, adds.toString(), atMost.toString()]);
}
