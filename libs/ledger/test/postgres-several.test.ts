import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Claim } from '@sluice/core';
import { openPostgresLedger } from '@sluice/ledger';
import type { FurtherDatabase, PostgresLedger } from '@sluice/ledger';
import { infra, own, startTimeout } from '../../../test/infra/client.ts';
import { freshDatabase } from '../../../test/infra/fresh.ts';
import type { FreshDatabase } from '../../../test/infra/fresh.ts';
import { databasesOf } from '../src/postgres/placement.js';
import { ledgerContract } from './contract.js';
import { pastCallsContract } from './past-calls-contract.js';
import { otherUrl } from './postgres-database.js';

beforeAll(() => infra('postgres'), startTimeout);

const day = 86_400_000;

/** Three databases of a test's own, and the ledgers that it opened on them. */
async function onThree(
  work: (three: {
    readonly urls: readonly [string, string, string];
    open(others: readonly FurtherDatabase[]): Promise<PostgresLedger>;
    query<Row extends pg.QueryResultRow>(place: number, text: string): Promise<Row[]>;
  }) => Promise<void>,
): Promise<void> {
  const { databaseUrl } = await infra('postgres');
  const fresh: FreshDatabase[] = [];
  const ledgers: PostgresLedger[] = [];
  try {
    for (let count = 0; count < 3; count++) fresh.push(await freshDatabase(databaseUrl));
    const urls = fresh.map(({ url }) => url) as unknown as readonly [string, string, string];
    await work({
      urls,
      open: async (others) => {
        const instance = `test-${ledgers.length}`;
        const ledger = await openPostgresLedger({ url: urls[0], others, instance });
        ledgers.push(ledger);
        return ledger;
      },
      query: async <Row extends pg.QueryResultRow>(place: number, text: string) => {
        const client = new pg.Client({ connectionString: urls[place] });
        await client.connect();
        try {
          return (await client.query<Row>(text)).rows;
        } finally {
          await client.end();
        }
      },
    });
  } finally {
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    await Promise.all(fresh.map(({ drop }) => drop()));
  }
}

/** For the contracts: three databases for all of it, each test in a schema of its own. */
let shared: readonly FreshDatabase[] = [];
let opened = 0;
beforeAll(async () => {
  const { databaseUrl } = await infra('postgres');
  shared = await Promise.all([1, 2, 3].map(() => freshDatabase(databaseUrl)));
}, startTimeout);
afterAll(() => Promise.all(shared.map(({ drop }) => drop())));

const openPair = async () => {
  const [url = '', b = '', c = ''] = shared.map((database) => database.url);
  const others = [
    { name: 'b', url: b },
    { name: 'c', url: c },
  ];
  const schema = `s${opened++}`;
  const ledger = await openPostgresLedger({ url, others, schema, instance: 'a' });
  await ledger.spreading?.spread();
  const other = await openPostgresLedger({ url, others, schema, instance: 'b' });
  return { ledger, other, close: async () => void (await Promise.all([ledger.close(), other.close()])) };
};

ledgerContract('PostgreSQL over three databases', { open: openPair });
pastCallsContract('PostgreSQL over three databases', openPair);

describe('the place of a key', () => {
  const at = (names: readonly string[]) => (key: string) =>
    databasesOf(key, { version: 1, current: names, former: [] }, 0).current;
  const keys = Array.from({ length: 3_000 }, (_, n) => `key-${n}`);

  it('is that of the name and not of the order, and each name has its share', () => {
    const places = keys.map(at(['first', 'b', 'c']));
    expect(keys.map(at(['c', 'first', 'b']))).toEqual(places);
    for (const name of ['first', 'b', 'c']) {
      const share = places.filter((place) => place === name).length;
      expect(share).toBeGreaterThan(800);
      expect(share).toBeLessThan(1_200);
    }
  });

  it('moves to a name that is added, or stays', () => {
    const [before, after] = [keys.map(at(['first', 'b'])), keys.map(at(['first', 'b', 'c']))];
    expect(after.filter((place, n) => place !== before[n] && place !== 'c')).toEqual([]);
  });
});

describe('a ledger over several databases', () => {
  it('puts claims into each, and all else into the first', () =>
    onThree(async ({ urls, open, query }) => {
      const ledger = await open([
        { name: 'b', url: urls[1] },
        { name: 'c', url: urls[2] },
      ]);
      expect(await ledger.spreading?.list()).toEqual([
        { name: 'first', holdsClaims: true },
        { name: 'b', holdsClaims: false },
        { name: 'c', holdsClaims: false },
      ]);
      expect(await ledger.spreading?.spread()).toEqual(['b', 'c']);
      expect(await ledger.spreading?.spread()).toEqual([]);
      const keys = Array.from({ length: 300 }, (_, n) => `k-${n}`);
      await Promise.all(keys.map((key) => ledger.claim({ key, owner: 'a', now: Date.now(), ttlMs: day })));
      await ledger.take({ key: 'k', limit: 1, windowMs: day });
      await ledger.documents.put('d', 1, 'text', null);
      for (const place of [0, 1, 2]) {
        const [{ claims } = { claims: 0 }] = await query<{ claims: number }>(
          place,
          'select count(*)::int as claims from sluice_claims',
        );
        expect(claims).toBeGreaterThan(60);
        expect(await query(place, 'select key from sluice_rates union all select key from sluice_documents')).toEqual(
          place === 0 ? [{ key: 'k' }, { key: 'd' }] : [],
        );
      }
    }));

  it('loses no living claim and has none taken twice while a third database is added', () =>
    onThree(async ({ urls, open, query }) => {
      const [b, c] = [
        { name: 'b', url: urls[1] },
        { name: 'c', url: urls[2] },
      ];
      await (await open([b])).spreading?.spread();
      // Processes that know of the third one, as after the environment was rolled out.
      const [one, two] = await Promise.all([open([b, c]), open([c, b])]);
      const ledgers = [one, two];
      const before = new Map<string, Claim>();
      for (let n = 0; n < 200; n++) {
        const key = `before-${n}`;
        before.set(key, await one.claim({ key, owner: 'before', now: Date.now(), ttlMs: day }));
      }
      let isOver = false;
      let keys = 0;
      const winners: string[] = [];
      const storm = Promise.all(
        Array.from({ length: 16 }, async () => {
          while (!isOver) {
            const key = `during-${keys++}`;
            const claims = await Promise.all(
              ledgers.map((ledger, place) =>
                ledger.claim({ key, owner: `owner-${place}`, now: Date.now(), ttlMs: day }),
              ),
            );
            expect(new Set(claims.map(({ owner }) => owner)).size).toBe(1);
            const winner = claims[0]?.owner ?? '';
            // The other process writes the outcome and looks at it, whatever placement it knows.
            await two.settle(key, winner, `by ${winner}`);
            expect(await one.find(key)).toMatchObject({ owner: winner, value: `by ${winner}` });
            winners.push(key);
          }
        }),
      );
      await delay(300);
      const from = keys;
      expect(await one.spreading?.spread()).toEqual(['c']);
      await delay(700);
      isOver = true;
      await storm;
      expect(from).toBeGreaterThan(20);
      expect(keys - from).toBeGreaterThan(20);

      // Every claim from before is found, by a process that was there and by one that starts now.
      const late = await open([b, c]);
      for (const ledger of [one, two, late])
        for (const [key, claim] of before) {
          expect(await ledger.find(key)).toEqual(claim);
          expect(await ledger.claim({ key, owner: 'late', now: Date.now(), ttlMs: day })).toEqual(claim);
        }
      // No key is in two databases, and the third has its share of the new ones.
      const found = await Promise.all(
        [0, 1, 2].map((place) => query<{ key: string }>(place, 'select key from sluice_claims')),
      );
      const all = found.flat().map(({ key }) => key);
      expect(new Set(all).size).toBe(all.length);
      expect(all).toHaveLength(before.size + winners.length);
      expect(found[2]?.length).toBeGreaterThan(5);
      // What was at a former place is given back there, and taken at the new one.
      for (const key of before.keys()) {
        expect(await late.release(key, 'before')).toBe(true);
        expect(await two.claim({ key, owner: 'after', now: Date.now(), ttlMs: day })).toMatchObject({ owner: 'after' });
        expect(await one.find(key)).toMatchObject({ owner: 'after' });
      }
      const moved = await query<{ key: string }>(2, `select key from sluice_claims where key like 'before-%'`);
      expect(moved.length).toBeGreaterThan(30);
    }));

  it('takes a claim that has expired at its former place at the new one, once', () =>
    onThree(async ({ urls, open, query }) => {
      const b = { name: 'b', url: urls[1] };
      const [one, two] = await Promise.all([open([b]), open([b])]);
      const now = Date.now();
      const keys = Array.from({ length: 50 }, (_, n) => `k-${n}`);
      for (const key of keys) await one.claim({ key, owner: 'a', now, ttlMs: 1_000 });
      await one.spreading?.spread();
      for (const key of keys) {
        expect(await two.claim({ key, owner: 'b', now: now + 999, ttlMs: day })).toMatchObject({ owner: 'a' });
        const claims = await Promise.all([
          one.claim({ key, owner: 'c', now: now + 1_000, ttlMs: day }),
          two.claim({ key, owner: 'd', now: now + 1_000, ttlMs: day }),
        ]);
        expect(claims[0]).toEqual(claims[1]);
        await expect(one.settle(key, 'a', 'late')).rejects.toThrow(/held by/);
      }
      const all = await Promise.all([0, 1].map((place) => query(place, 'select key from sluice_claims')));
      expect(all.flat()).toHaveLength(keys.length);
      expect(all[1]?.length).toBeGreaterThan(5);
    }));

  it('takes no claim in a process that knows fewer databases than hold claims, and refuses to start it', () =>
    onThree(async ({ urls, open }) => {
      const b = { name: 'b', url: urls[1] };
      const [alone, both] = [await open([]), await open([b])];
      await alone.claim({ key: 'k', owner: 'a', now: Date.now(), ttlMs: day });
      await both.spreading?.spread();
      const sentence = /SLUICE_LEDGER does not name: b\. Name them; a database that holds claims cannot be taken out/;
      await expect(alone.claim({ key: 'l', owner: 'a', now: Date.now(), ttlMs: day })).rejects.toThrow(sentence);
      await expect(alone.find('k')).rejects.toThrow(sentence);
      await expect(alone.check()).rejects.toThrow(sentence);
      await expect(open([])).rejects.toThrow(sentence);
      expect(await both.find('k')).toMatchObject({ owner: 'a' });
    }));

  it('refuses a database that was emptied, is another one, or belongs to another ledger', () =>
    onThree(async ({ urls, open, query }) => {
      const [b, c] = [
        { name: 'b', url: urls[1] },
        { name: 'c', url: urls[2] },
      ];
      await (await open([b, c])).spreading?.spread();
      await expect(
        open([
          { ...b, url: c.url },
          { ...c, url: b.url },
        ]),
      ).rejects.toThrow(/is not the database [bc] of this/);
      await query(1, 'delete from sluice_placement');
      await expect(open([b, c])).rejects.toThrow(/is empty, though claims of this ledger are kept in it/);
      await query(2, `update sluice_placement set ledger = 'other'`);
      await expect(openPostgresLedger({ url: c.url, instance: 'test' })).rejects.toThrow(/is not the database first/);
    }));

  it('goes on where adding was interrupted, and takes no claims until then', () =>
    onThree(async ({ urls, open, query }) => {
      const b = { name: 'b', url: urls[1] };
      const ledger = await open([b]);
      await ledger.claim({ key: 'k', owner: 'a', now: Date.now(), ttlMs: day });
      // The first database was fenced off, and the record not written.
      await query(0, 'update sluice_placement set version = 2');
      const waiting = ledger.claim({ key: 'l', owner: 'a', now: Date.now(), ttlMs: day });
      await delay(500);
      expect(await query(0, 'select key from sluice_claims')).toEqual([{ key: 'k' }]);
      expect(await ledger.spreading?.spread()).toEqual(['b']);
      expect(await waiting).toMatchObject({ owner: 'a' });
      expect(await ledger.find('k')).toMatchObject({ owner: 'a' });
    }));
});

describe('a ledger one of whose databases is away', () => {
  it('says which, takes the claims of the others, and goes on when it is back', async () => {
    const server = await own('postgres');
    try {
      await onThree(async ({ urls, open }) => {
        const away = { name: 'away', url: otherUrl(server.address.databaseUrl, () => undefined) };
        const ledger = await open([{ name: 'b', url: urls[1] }, away]);
        await ledger.spreading?.spread();
        await ledger.check();
        await server.kill();
        const keys = Array.from({ length: 90 }, (_, n) => `k-${n}`);
        let answered = 0;
        const claims = keys.map((key) =>
          ledger.claim({ key, owner: 'a', now: Date.now(), ttlMs: day }).then((claim) => (answered++, claim)),
        );
        await delay(1_500);
        const port = new URL(away.url).port;
        await expect(ledger.check()).rejects.toThrow(new RegExp(`127.0.0.1:${port} refuses connections`));
        expect(answered).toBeGreaterThan(30);
        expect(answered).toBeLessThan(90);
        await server.start();
        expect(await Promise.all(claims)).toHaveLength(90);
        await ledger.check();
      });
    } finally {
      await server.start().catch(() => undefined);
      await server.release();
    }
  });
});
