import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { infra, startTimeout } from '../../../test/infra/client.ts';
import { Outage } from '../src/postgres/outage.js';
import { connectionTo, poolOf } from '../src/postgres/connection.js';
import { ledgerOn } from '../src/postgres/ledger.js';
import type { PostgresLedger } from '../src/postgres/ledger.js';
import { onDatabase, onOne } from './postgres-database.js';
import type { Database } from './postgres-database.js';

beforeAll(() => infra('postgres'), startTimeout);

const ttlMs = 1_000;
const ask = (key: string, owner = 'a', now = 0) => ({ key, owner, now, ttlMs });
const keysTo = (count: number): string[] => Array.from({ length: count }, (_, index) => `k-${index}`);
const shuffled = <T>(list: readonly T[]): T[] =>
  list
    .map((one) => [Math.random(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);

/** Works with a ledger of which it is known how many statements it sent. */
async function counted(
  { open, url }: Database,
  work: (ledger: PostgresLedger, statements: () => number) => Promise<void>,
): Promise<void> {
  await open();
  const connection = connectionTo(url, 'counted');
  const pool: pg.Pool = poolOf(connection, () => undefined);
  let statements = 0;
  pool.on('acquire', () => statements++);
  const outage = new Outage(() => undefined);
  const ledger = ledgerOn({
    ...onOne({ name: 'first', pool, place: connection.place, outage }),
    schema: 'public',
    patienceMs: 1_000,
    clock: { now: () => Date.now() },
  });
  try {
    await work(ledger, () => statements);
  } finally {
    await ledger.close();
  }
}

/** What the server counted, when it has counted all: it does so a second late. */
async function settled<T>(read: () => Promise<T>): Promise<T> {
  await delay(1_500);
  for (let last = await read(); ;) {
    await delay(1_500);
    const now = await read();
    if (isDeepStrictEqual(now, last)) return now;
    last = now;
  }
}

describe('claims under load', () => {
  it('go together: what is asked in one turn is one statement, up to a bound', () =>
    onDatabase((database) =>
      counted(database, async (ledger, statements) => {
        const claims = await Promise.all(keysTo(500).map((key) => ledger.claim(ask(key))));
        expect(claims.map(({ key }) => key)).toEqual(keysTo(500));
        expect(statements()).toBe(1);
        await Promise.all(keysTo(501).map((key) => ledger.claim(ask(key))));
        expect(statements()).toBe(3);
        await Promise.all(keysTo(501).map((key) => ledger.find(key)));
        expect(statements()).toBe(5);
      }),
    ));

  it('go together while a statement is on its way', () =>
    onDatabase((database) =>
      counted(database, async (ledger, statements) => {
        const keys = keysTo(10_000);
        let asked = 0;
        const one = async (): Promise<void> => {
          for (let key = keys[asked++]; key !== undefined; key = keys[asked++]) {
            expect(await ledger.claim(ask(key))).toMatchObject({ key, owner: 'a' });
          }
        };
        await Promise.all(Array.from({ length: 200 }, one));
        expect(statements()).toBeLessThan(500);
        expect(await database.query('select count(*)::int as claims from sluice_claims')).toEqual([{ claims: 10_000 }]);
      }),
    ));

  it('of one key behave as one after the other, also in one batch', () =>
    onDatabase((database) =>
      counted(database, async (ledger, statements) => {
        const claims = await Promise.all(['a', 'b', 'a', 'c'].map((owner) => ledger.claim(ask('k', owner))));
        expect(claims.map(({ owner }) => owner)).toEqual(['a', 'a', 'a', 'a']);
        expect(statements()).toBe(1);
        // The second finds the first one's claim expired, the third finds the second one's in force.
        const times = [0, ttlMs, 2 * ttlMs - 1, 2 * ttlMs];
        const later = await Promise.all(times.map((now) => ledger.claim(ask('k2', `at ${now}`, now))));
        expect(later.map(({ claimedAt }) => claimedAt)).toEqual([0, ttlMs, ttlMs, 2 * ttlMs]);
        expect(await ledger.find('k2')).toEqual(later[3]);
      }),
    ));

  it('of an expired claim have one winner among 50 owners in five processes', () =>
    onDatabase(async ({ open }) => {
      const ledgers = await Promise.all(Array.from({ length: 5 }, () => open()));
      for (let round = 0; round < 20; round++) {
        const key = `k-${round}`;
        await ledgers[0]?.claim(ask(key, 'former'));
        await ledgers[0]?.settle(key, 'former', 'old');
        const claims = await Promise.all(
          Array.from({ length: 10 }, (_, index) => index).flatMap((index) =>
            ledgers.map((ledger, process) => ledger.claim(ask(key, `owner-${process}-${index}`, ttlMs))),
          ),
        );
        expect(new Set(claims.map(({ owner }) => owner)).size).toBe(1);
        expect(claims[0]).toMatchObject({ value: null, claimedAt: ttlMs, owner: expect.stringMatching(/^owner-/) });
      }
    }));

  it('never deadlock, whatever the order in which processes ask, settle, release and sweep', () =>
    onDatabase(async ({ open, logged }) => {
      const ledgers = await Promise.all(Array.from({ length: 4 }, () => open()));
      const keys = keysTo(400);
      for (let round = 0; round < 15; round++) {
        const now = 2 * round * ttlMs;
        await Promise.all(
          ledgers.map(async (ledger, process) => {
            const owner = `owner-${process}`;
            // Later keys expire earlier, so that a sweep meets them in the opposite order.
            const asked = keys.map((key, index) => ask(key, owner, now - index));
            const claimed = Promise.all(shuffled(asked).map((request) => ledger.claim(request)));
            const sweep = ledger.sweep(now);
            const claims = await claimed;
            const mine = shuffled(claims.filter((claim) => claim.owner === owner));
            await Promise.all(
              mine.map(({ key }, index) =>
                index % 2 === 0 ? ledger.settle(key, owner, 'done') : ledger.release(key, owner),
              ),
            );
            await sweep;
          }),
        );
      }
      // A deadlock would have been asked again, and said so.
      expect(logged).toEqual([]);
    }));

  it.each([1, 2, 30, 300])('are read by their keys, though the table had %i rows when the first ones came', (rows) =>
    onDatabase(async ({ open, query }) => {
      const ledger = await open();
      const claim = async (count: number, name: string): Promise<void> => {
        for (let n = 0; n < count; n++) await ledger.claim({ ...ask(`${name}-${n}`), ttlMs: 1e12 });
      };
      await query('alter table sluice_claims set (autovacuum_enabled = false)');
      await query(`insert into sluice_claims select 'k' || n, 'a', null, 0, 1e12 from generate_series(1, ${rows}) n`);
      await query('analyze sluice_claims');
      // After five times the server keeps the plan of a statement that it knows by name.
      await claim(10, 'early');
      await query(`insert into sluice_claims select 'm' || n, 'a', null, 0, 1e12 from generate_series(1, 20000) n`);
      const read = async (): Promise<{ scans: number; rows: number }> => {
        const [found] = await query<{ scans: number; rows: number }>(`
          select sum(i.idx_scan)::int as scans, sum(i.idx_tup_read)::int + max(t.seq_tup_read)::int as rows
          from pg_stat_user_indexes i join pg_stat_user_tables t using (relid) where t.relname = 'sluice_claims'`);
        return found ?? { scans: 0, rows: 0 };
      };
      const before = await settled(read);
      await claim(20, 'late');
      const after = await settled(read);
      expect(after.scans - before.scans).toBeGreaterThanOrEqual(20);
      expect(after.rows - before.rows).toBeLessThan(1_000);
    }),
  );

  it('leave to a sweep what has expired, in portions, beside sweeps of other processes', () =>
    onDatabase(async ({ open, query }) => {
      const [ledger, other] = await Promise.all([open(), open()]);
      await query(`insert into sluice_claims select 'k' || n, 'a', null, 0, n from generate_series(1, 5000) n`);
      const swept = await Promise.all([ledger.sweep(4_500), other.sweep(4_500), ledger.sweep(4_500)]);
      expect(swept.reduce((sum, portion) => sum + portion, 0)).toBe(4_500);
      expect(await query('select count(*)::int as claims from sluice_claims')).toEqual([{ claims: 500 }]);
    }));

  it('leave to the next sweep rows that are being written, rather than wait for them', () =>
    onDatabase(async ({ open, query }) => {
      const ledger = await open();
      for (const key of ['written', 'left alone']) await ledger.claim({ key, owner: 'a', now: 0, ttlMs: 1_000 });
      await query('begin');
      await query(`update sluice_claims set value = 'done' where key = 'written'`);
      expect(await ledger.sweep(1_000)).toBe(1);
      await query('commit');
      expect(await ledger.find('written')).toMatchObject({ value: 'done' });
      expect(await ledger.sweep(1_000)).toBe(1);
    }));
});
