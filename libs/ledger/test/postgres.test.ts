import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { openPostgresLedger } from '@sluice/ledger';
import { connectionTo } from '../src/postgres/connection.js';
import { infra, startTimeout } from '../../../test/infra/client.ts';
import { freshDatabase } from '../../../test/infra/fresh.ts';
import { ledgerContract } from './contract.js';
import { discoverySessionsContract } from './discovery-sessions.js';
import { documentsContract } from './documents-contract.js';
import { pastCallsContract } from './past-calls-contract.js';
import { asRates, ratesContract } from './rates-contract.js';
import { onDatabase, otherUrl } from './postgres-database.js';
import type { Database } from './postgres-database.js';

beforeAll(() => infra('postgres'), startTimeout);

const openPair = async () => {
  const { url, drop } = await freshDatabase((await infra('postgres')).databaseUrl);
  const [ledger, other] = await Promise.all([
    openPostgresLedger({ url, instance: 'a' }),
    openPostgresLedger({ url, instance: 'b' }),
  ]);
  return {
    ledger,
    other,
    close: async () => {
      await Promise.all([ledger.close(), other.close()]);
      await drop();
    },
  };
};

ledgerContract('PostgreSQL', { open: openPair });
ratesContract('PostgreSQL', { open: async () => asRates(await openPair()) });
documentsContract('PostgreSQL', openPair);
discoverySessionsContract('PostgreSQL', openPair);
pastCallsContract('PostgreSQL', openPair);

const ask = (key: string, owner = 'a', now = 0) => ({ key, owner, now, ttlMs: 1_000 });

describe('the ledger’s connections', () => {
  it('have nothing compiled for them, which takes longer than any of their statements', () =>
    onDatabase(async ({ url }) => {
      const client = new pg.Client(connectionTo(url, 'test').config);
      await client.connect();
      try {
        expect((await client.query('show jit')).rows).toEqual([{ jit: 'off' }]);
      } finally {
        await client.end();
      }
    }));
});

describe('the ledger’s tables', () => {
  it('are made once when several processes start at the same time, and kept by those that come later', () =>
    onDatabase(async ({ open, query }) => {
      const ledgers = await Promise.all(Array.from({ length: 8 }, () => open()));
      const claims = await Promise.all(ledgers.map((ledger, index) => ledger.claim(ask('k', `owner-${index}`))));
      expect(new Set(claims.map(({ owner }) => owner)).size).toBe(1);
      expect(await (await open()).find('k')).toEqual(claims[0]);
      expect(await query('select version from sluice_ledger_migrations')).toEqual([
        { version: 1 },
        { version: 2 },
        { version: 3 },
        { version: 4 },
        { version: 5 },
        { version: 6 },
        { version: 7 },
        { version: 8 },
      ]);
    }));

  it('are taken up again after they were given back to a former version, with what is in them', () =>
    onDatabase(async ({ open, query }) => {
      const ledger = await open();
      await ledger.claim(ask('k', 'a'));
      await ledger.close();
      // As docs/operations.md#upgrades says for a version that knows the format 4.
      await query('delete from sluice_ledger_migrations where version > 4');
      const again = await open();
      expect(await again.find('k')).toMatchObject({ owner: 'a' });
      const formats = await query<{ version: number }>('select version from sluice_ledger_migrations order by 1');
      expect(formats.map(({ version }) => version).slice(0, 8)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    }));

  it('lie in the schema that is named, which is made', () =>
    onDatabase(async ({ open, query }) => {
      const [one, two] = [await open({ schema: 'Team "A"' }), await open({ schema: 'b' })];
      expect(await one.claim(ask('k', 'a'))).toMatchObject({ owner: 'a' });
      expect(await two.claim(ask('k', 'b'))).toMatchObject({ owner: 'b' });
      expect(await query('select key from "Team ""A""".sluice_claims')).toEqual([{ key: 'k' }]);
      await one.take({ key: 'k', limit: 1, windowMs: 60_000 });
      await one.sweepRates(0);
      expect(await query('select key, points from "Team ""A""".sluice_rates')).toEqual([{ key: 'k', points: 1 }]);
    }));

  it('are left alone if a step of the migration fails', () =>
    onDatabase(async ({ open, query }) => {
      await query('create table sluice_claims (something text)');
      await expect(open()).rejects.toMatchObject({ code: 'ledger_unreachable', retryable: false });
      expect(await query(`select to_regclass('sluice_ledger_migrations') as found`)).toEqual([{ found: null }]);
    }));

  it.each([
    ['before', false],
    ['after', true],
  ])('are read by their indexes alone, %s the server knows their size', (_, analysed) =>
    onDatabase(async ({ open, query }) => {
      const read = async () =>
        (
          await query<{ scanned: number; looked_up: number }>(
            `select seq_tup_read::int as scanned, idx_tup_fetch::int as looked_up
             from pg_stat_user_tables where relname = 'sluice_claims'`,
          )
        )[0] ?? { scanned: NaN, looked_up: NaN };
      const ledger = await open();
      await query(
        `insert into sluice_claims select 'k' || n, 'a', null, n, n + 1000 from generate_series(1, 100000) n`,
      );
      if (analysed) await query('analyze sluice_claims');
      const before = await read();
      for (const keys of [['k1'], Array.from({ length: 500 }, (_, index) => `k${index * 150}`)]) {
        await Promise.all(keys.map((key) => ledger.claim(ask(key))));
        await Promise.all(keys.map((key) => ledger.find(key)));
        await Promise.all(keys.map((key) => ledger.settle(key, 'a', 'done')));
        await Promise.all(keys.map((key) => ledger.release(key, 'a')));
      }
      expect(await ledger.sweep(3_500)).toBeGreaterThan(2_000);
      await ledger.check();
      await ledger.close();
      // A connection reports what it read before it is gone.
      const connected = `select from pg_stat_activity where application_name like 'sluice %' and datname = current_database()`;
      while ((await query(connected)).length > 0) await delay(10);
      const after = await read();
      expect(after.scanned).toBe(before.scanned);
      expect(after.looked_up - before.looked_up).toBeGreaterThan(2_000);
      expect(after.looked_up - before.looked_up).toBeLessThan(20_000);
    }),
  );
});

describe('a database that cannot be used', () => {
  // What waited for it instead would never end.
  const refused = async (opening: Promise<unknown>, reason: RegExp): Promise<void> => {
    await expect(opening).rejects.toMatchObject({
      code: 'ledger_unreachable',
      retryable: false,
      message: expect.stringMatching(reason),
    });
  };

  it.each<[string, RegExp, (database: Database) => Promise<unknown>]>([
    [
      'was used by a newer version',
      /newer version.*99.*Update/,
      async ({ open, query }) => {
        await open();
        await query('insert into sluice_ledger_migrations values (99)');
        return open();
      },
    ],
    [
      'does not exist',
      /database nowhere at 127.0.0.1:\d+ does not exist\. Create it/,
      ({ open, url }) => open({ url: otherUrl(url, (other) => (other.pathname = '/nowhere')) }),
    ],
    [
      'lets the user make no table',
      /does not let ledger_guest_\w+ do this: permission denied for schema public\. Grant it/,
      async ({ open, query, url }) => {
        const name = `ledger_guest_${randomBytes(4).toString('hex')}`;
        await query(`create role ${name} login password 'guest'`);
        const guest = otherUrl(url, (other) => ([other.username, other.password] = [name, 'guest']));
        return open({ url: guest }).finally(() => query(`drop role ${name}`));
      },
    ],
    [
      'cannot hold all text',
      /LATIN1.*encoding UTF8/,
      async ({ open, query, url }) => {
        const name = `latin_${randomBytes(4).toString('hex')}`;
        await query(`create database ${name} encoding 'LATIN1' locale 'C' template template0`);
        const latin = otherUrl(url, (other) => (other.pathname = `/${name}`));
        return open({ url: latin }).finally(() => query(`drop database ${name} with (force)`));
      },
    ],
    [
      'may forget in a crash what it acknowledged',
      /synchronous_commit is off/,
      ({ open, url }) =>
        open({ url: otherUrl(url, (other) => other.searchParams.set('options', '-c synchronous_commit=off')) }),
    ],
    [
      'is not PostgreSQL’s',
      /not one of PostgreSQL.*postgres:\/\//,
      ({ open }) => open({ url: 'mysql://u:secret@h/d' }),
    ],
    ['is no address', /not one of PostgreSQL/, ({ open }) => open({ url: 'postgres://u:sec/ret@h:port/d' })],
  ])('is refused at once if it %s', (_, reason, opening) =>
    onDatabase((database) => refused(opening(database), reason)),
  );

  it('is refused at once if it refuses the password, which is never named', () =>
    onDatabase(async ({ open, url }) => {
      const wrong = otherUrl(url, (other) => (other.password = 'a-wrong-secret'));
      await refused(open({ url: wrong }), /refuses the password of \w+\. Mend/);
      const error = await open({ url: wrong }).catch((caught: unknown) => caught);
      expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain('a-wrong-secret');
      await refused(open({ url: otherUrl(url, (other) => (other.password = '')) }), /asks \w+ for a password/);
    }));
});

describe('what PostgreSQL cannot keep as it is', () => {
  it('is no obstacle in a key: long, ill-formed or like a digest, each is a key of its own', () =>
    onDatabase(async ({ open, query }) => {
      const ledger = await open();
      const long = randomBytes(20_000).toString('hex');
      const odd = [long, `${long}x`, 'nul\0', 'nul', '\ud800', '\ud801', '\ufffd', 'sha256/abc'];
      const claims = await Promise.all(odd.map((key, index) => ledger.claim(ask(key, `owner-${index}`))));
      expect(claims.map(({ key, owner }) => [key, owner])).toEqual(odd.map((key, index) => [key, `owner-${index}`]));
      for (const [index, key] of odd.entries()) expect(await ledger.find(key)).toEqual(claims[index]);
      // Who sees the digest of another one's key and asks for it by that name gets a claim of his own.
      const [digest] = await query<{ key: string }>(`select key from sluice_claims where owner = 'owner-0'`);
      expect(digest?.key).toMatch(/^sha256\//);
      expect(await ledger.claim(ask(digest?.key ?? '', 'other'))).toMatchObject({ owner: 'other' });
    }));

  it('is refused elsewhere, without harm to what is asked beside it', () =>
    onDatabase(async ({ open }) => {
      const ledger = await open();
      await ledger.claim(ask('k'));
      const [owner, time, outcome, beside] = await Promise.allSettled([
        ledger.claim(ask('x', 'nul\0')),
        ledger.claim({ ...ask('x'), now: 0.5 }),
        ledger.settle('k', 'a', 'half \ud800'),
        ledger.claim(ask('beside')),
      ]);
      expect(owner).toMatchObject({ reason: { message: expect.stringMatching(/owner.*Escape it/) } });
      expect(time).toMatchObject({ reason: { message: expect.stringMatching(/0\.5.*whole number/) } });
      expect(outcome).toMatchObject({ reason: { message: expect.stringMatching(/outcome.*Escape it/) } });
      expect(beside).toMatchObject({ status: 'fulfilled' });
      expect(await ledger.find('k')).toMatchObject({ value: null });
      expect(await ledger.find('x')).toBeUndefined();
    }));
});
