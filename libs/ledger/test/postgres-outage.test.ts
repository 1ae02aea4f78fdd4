import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Ledger } from '@sluice/core';
import { openPostgresLedger } from '@sluice/ledger';
import { own, startTimeout } from '../../../test/infra/client.ts';
import type { Owned } from '../../../test/infra/client.ts';
import { Outage } from '../src/postgres/outage.js';
import { connectionTo, poolOf } from '../src/postgres/connection.js';
import { ledgerOn } from '../src/postgres/ledger.js';
import { onDatabase, onOne, otherUrl } from './postgres-database.js';
import type { Database } from './postgres-database.js';

let server: Owned<'postgres'>;
beforeAll(async () => {
  server = await own('postgres');
}, startTimeout);
afterAll(() => server.release());

const here = (work: (database: Database) => Promise<void>): Promise<void> =>
  onDatabase(work, server.address.databaseUrl);
const ask = (key: string, owner = 'a') => ({ key, owner, now: 0, ttlMs: 1_000_000 });

/**
 * Asks for one key after the other as all of the ledgers at once, until `stop`, and tells how many keys had how many
 * winners.
 */
function storm(ledgers: readonly Ledger[]): { stop(): Promise<{ keys: number; winners: Record<number, number> }> } {
  let stopped = false;
  let keys = 0;
  const winners: Record<number, number> = {};
  const one = async (): Promise<void> => {
    while (!stopped) {
      const key = `k-${keys++}`;
      const claims = await Promise.all(ledgers.map((ledger, index) => ledger.claim(ask(key, `owner-${index}`))));
      const won = claims.filter(({ owner }, index) => owner === `owner-${index}`).length;
      winners[won] = (winners[won] ?? 0) + 1;
      expect(new Set(claims.map(({ owner }) => owner)).size).toBe(1);
      expect(await ledgers[0]?.find(key)).toEqual(claims[0]);
      const winner = claims[0]?.owner ?? '';
      const settled = await ledgers[Number(winner.slice(-1))]?.settle(key, winner, `by ${winner}`);
      expect(settled).toEqual({ ...claims[0], value: `by ${winner}` });
    }
  };
  const askers = Promise.all(Array.from({ length: 20 }, one));
  return {
    stop: async () => {
      stopped = true;
      await askers;
      return { keys, winners };
    },
  };
}

describe('a ledger whose connections are cut', () => {
  it('goes on, and no key ever has two winners', () =>
    here(async ({ open, query, logged }) => {
      const ledgers = await Promise.all([open(), open(), open()]);
      const asked = storm(ledgers);
      let cut = 0;
      // Six seconds of it, and longer where a busy machine cuts fewer.
      const since = performance.now();
      const goesOn = (): boolean => performance.now() - since < (cut > 50 ? 6_000 : 18_000);
      for (; goesOn(); await delay(20 + 60 * Math.random())) {
        const rows = await query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where application_name like 'sluice %' and datname = current_database() order by random() limit 2`,
        );
        cut += rows.length;
      }
      const { keys, winners } = await asked.stop();
      expect(winners).toEqual({ 1: keys });
      expect(keys).toBeGreaterThan(20);
      expect(cut).toBeGreaterThan(10);
      // Some were cut while a statement was on its way, or this has shown nothing.
      expect(logged.filter(({ level }) => level === 'warn').length).toBeGreaterThan(3);
      expect(await query(`select count(*)::int as claims from sluice_claims where value is not null`)).toEqual([
        { claims: keys },
      ]);
    }));
});

describe('a ledger whose server goes away', () => {
  const sentence = {
    code: 'ledger_unreachable',
    retryable: true,
    message: expect.stringMatching(/refuses connections/),
  };

  it.each(['restart', 'kill'] as const)('waits and goes on after a %s, nothing claimed twice', (how) =>
    here(async ({ open, logged }) => {
      const ledgers = await Promise.all([open(), open()]);
      const asked = storm(ledgers);
      await delay(500);
      if (how === 'restart') await server.restart();
      else {
        await server.kill();
        await server.start();
      }
      await delay(500);
      const { keys, winners } = await asked.stop();
      expect(winners).toEqual({ 1: keys });
      expect(logged.map(({ message }) => message)).toContainEqual(expect.stringMatching(/It is tried again\.$/));
      expect(logged.at(-1)?.message).toMatch(/answers again/);
    }),
  );

  it('keeps those waiting who ask while it is away, and is not ready then', () =>
    here(async ({ open, url, logged }) => {
      const ledger = await open();
      await ledger.claim(ask('before'));
      await ledger.check();
      await server.kill();
      try {
        let answered = 0;
        const waiting = Promise.all([
          ledger.claim(ask('k')).then((claim) => (answered++, claim)),
          ledger.settle('before', 'a', 'done').then((claim) => (answered++, claim)),
          ledger.take({ key: 'k', limit: 1, windowMs: 60_000 }).then((answer) => (answered++, answer)),
        ]);
        // At first a connection that was open may break; after that nobody is there to connect to.
        await expect(ledger.check()).rejects.toMatchObject({ code: sentence.code, retryable: true });
        await delay(1_500);
        await expect(ledger.check()).rejects.toMatchObject(sentence);
        expect(answered).toBe(0);
        await server.start();
        expect(await waiting).toMatchObject([{ key: 'k', owner: 'a' }, { value: 'done' }, { within: true }]);
        await ledger.check();
        const warnings = logged.filter(({ level }) => level === 'warn').map(({ message }) => message);
        expect(warnings).toEqual([expect.stringContaining(`127.0.0.1:${new URL(url).port}`)]);
      } finally {
        await server.start().catch((error: unknown) => expect(String(error)).toMatch(/runs already/));
      }
    }));

  it('answers the readiness check in time when it says nothing any more, and goes on when it does', () =>
    here(async ({ open }) => {
      const ledger = await open();
      await ledger.claim(ask('k'));
      await server.pause();
      const start = performance.now();
      const late = { ...sentence, message: expect.stringMatching(/does not answer in time/) };
      try {
        const claim = ledger.claim(ask('k2'));
        await Promise.all([1, 2, 3].map(() => expect(ledger.check()).rejects.toMatchObject(late)));
        expect(performance.now() - start).toBeLessThan(4_000);
        // Longer than a statement is waited for, so that it is asked again while the first one may still be carried
        // out.
        await delay(5_000);
        await server.resume();
        expect(await claim).toMatchObject({ key: 'k2', owner: 'a' });
        await ledger.check();
      } finally {
        await server.resume();
      }
    }));

  it('is not ready while the database takes no writes', () =>
    here(async ({ open, query, url }) => {
      const ledger = await open();
      const readOnly = async (setting: 'on' | 'off'): Promise<void> => {
        await query(`alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = ${setting}`);
        await query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'sluice %'`);
      };
      await ledger.check();
      await readOnly('on');
      const claim = ledger.claim(ask('k'));
      const standby = { ...sentence, message: expect.stringMatching(/takes no writes.*Name the primary/) };
      // A check may still meet the connection that was cut, which it says too.
      await expect(ledger.check().catch(() => ledger.check())).rejects.toMatchObject(standby);
      // The connection of the test itself began before the database was read-only.
      await readOnly('off');
      expect(await claim).toMatchObject({ owner: 'a' });
      await ledger.check().catch(() => ledger.check());
    }));

  it('fails after a bounded time, with a sentence that names the address and not the password', async () => {
    const connection = connectionTo('postgres://user:very-secret@localhost:1/claims', 'test');
    const outage = new Outage(() => undefined);
    const pool = poolOf(connection, () => undefined);
    const ledger = ledgerOn({
      ...onOne({ name: 'first', pool, place: connection.place, outage }),
      schema: 'public',
      patienceMs: 700,
      clock: { now: () => Date.now() },
    });
    const start = performance.now();
    const error = await ledger.claim(ask('k')).catch((caught: unknown) => caught);
    expect(performance.now() - start).toBeGreaterThan(600);
    expect(performance.now() - start).toBeLessThan(5_000);
    expect(error).toMatchObject({
      code: 'ledger_unreachable',
      retryable: true,
      message: 'The ledger’s database claims at localhost:1 refuses connections. Start it, or correct its address.',
    });
    expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain('very-secret');
    await ledger.close();
  });

  it('does not keep a process that ends: a waiting call then has a last try', () =>
    here(async ({ open }) => {
      const ledger = await open();
      await server.kill();
      try {
        const claim = expect(ledger.claim(ask('k'))).rejects.toMatchObject(sentence);
        await delay(300);
        const start = performance.now();
        await ledger.close();
        expect(performance.now() - start).toBeLessThan(3_000);
        await claim;
      } finally {
        await server.start();
      }
    }));
});

describe('a ledger whose server puts nothing on the disk for a while', () => {
  it('answers for a claim when it is there, and at once for what it counts', () =>
    here(async ({ open, query }) => {
      const ledger = await open();
      const count = () => ledger.take({ key: 'k', limit: 3, windowMs: 60_000 });
      await count();
      // A commit that waits for the disk waits for this standby as well, which is not there.
      await query(`alter system set synchronous_standby_names = 'absent'`);
      const claims: Promise<unknown>[] = [];
      const isAnswered = (): Promise<boolean> => {
        const claim = ledger.claim(ask(`k-${claims.length}`));
        claims.push(claim);
        return Promise.race([claim.then(() => true), delay(1_000, false)]);
      };
      try {
        await query('select pg_reload_conf()');
        while (await isAnswered()) await delay(50);
        expect(await Promise.race([count(), delay(4_000)])).toMatchObject({ within: true, remaining: 1 });
      } finally {
        await query('alter system reset synchronous_standby_names');
        await query('select pg_reload_conf()');
      }
      expect(await Promise.all(claims)).toHaveLength(claims.length);
    }));
});

describe('opening a ledger whose server is not there', () => {
  it('waits for it, and says so', () =>
    here(async ({ open, logged }) => {
      await server.kill();
      const opening = open();
      await delay(700);
      expect(logged.map(({ level }) => level)).toEqual(['warn']);
      await server.start();
      expect(await (await opening).claim(ask('k'))).toMatchObject({ owner: 'a' });
      expect(logged.map(({ level }) => level)).toEqual(['warn', 'info']);
    }));

  it('stops when the signal aborts, with its reason, even if the server says nothing', () =>
    here(async ({ url }) => {
      const reason = new Error('enough');
      const givenUp = async (address: string): Promise<void> => {
        const enough = new AbortController();
        const opening = openPostgresLedger({ url: address, instance: 'test', signal: enough.signal });
        setTimeout(() => enough.abort(reason), 300);
        const start = performance.now();
        await expect(opening).rejects.toBe(reason);
        expect(performance.now() - start).toBeLessThan(3_000);
      };
      await givenUp(otherUrl(url, (other) => (other.port = '1')));
      await server.pause();
      await givenUp(url).finally(() => server.resume());
    }));
});
