import { describe, expect, it } from '@jest/globals';
import type { Claim, Ledger } from '@sluice/core';
import { againstModel } from './against-model.js';

/** All that an implementation gives to be held to the contract. */
export interface LedgerHarness {
  /** A ledger of the test's own, and another connection to it as a second process has. */
  open(): Promise<{ readonly ledger: Ledger; readonly other: Ledger; close(): Promise<void> }>;
}

const ttlMs = 1_000;
/** For a hundred histories on a busy machine. */
const testMs = 240_000;

/** What every ledger must do. Knows no implementation; the time is passed in. */
export function ledgerContract(name: string, harness: LedgerHarness): void {
  const onLedger = (work: (ledger: Ledger, other: Ledger) => Promise<void>) => async () => {
    const { ledger, other, close } = await harness.open();
    try {
      await work(ledger, other);
    } finally {
      await close();
    }
  };
  const ask = (owner: string, now = 0, key = 'k') => ({ key, owner, now, ttlMs });
  const owned = (owner: string, value: string | null = null, claimedAt = 0, key = 'k'): Claim => ({
    key,
    owner,
    value,
    claimedAt,
    expiresAt: claimedAt + ttlMs,
  });

  describe(`${name}: the ledger contract`, () => {
    it(
      'gives a claim to the first who asks; the others get the first one’s, from any process',
      onLedger(async (ledger, other) => {
        expect(await ledger.claim(ask('a'))).toEqual(owned('a'));
        expect(await ledger.claim(ask('b', 10))).toEqual(owned('a'));
        expect(await other.claim(ask('b', 10))).toEqual(owned('a'));
        expect(await other.claim(ask('b', 10, 'another'))).toEqual(owned('b', null, 10, 'another'));
      }),
    );

    it(
      'lets the owner ask again, which changes nothing',
      onLedger(async (ledger, other) => {
        await ledger.claim(ask('a'));
        expect(await other.claim(ask('a', 500))).toEqual(owned('a'));
        expect(await ledger.find('k')).toEqual(owned('a'));
      }),
    );

    it(
      'has one winner among many who ask at once, each key for itself',
      onLedger(async (ledger, other) => {
        const keys = Array.from({ length: 20 }, (_, index) => `k-${index}`);
        const asked = await Promise.all(
          keys.flatMap((key) =>
            ['a', 'b', 'c', 'd'].map((owner, index) => (index % 2 === 0 ? ledger : other).claim(ask(owner, 0, key))),
          ),
        );
        for (const key of keys) {
          const owners = new Set(asked.filter((claim) => claim.key === key).map(({ owner }) => owner));
          expect(owners.size).toBe(1);
          expect(await other.find(key)).toMatchObject({ owner: [...owners][0] });
        }
      }),
    );

    it(
      'writes the outcome beside the owner’s claim, once',
      onLedger(async (ledger, other) => {
        await ledger.claim(ask('a'));
        expect(await ledger.settle('k', 'a', 'done')).toEqual(owned('a', 'done'));
        expect(await ledger.settle('k', 'a', 'done otherwise')).toEqual(owned('a', 'done'));
        expect(await other.claim(ask('b'))).toEqual(owned('a', 'done'));
        expect(await other.find('k')).toEqual(owned('a', 'done'));
      }),
    );

    it(
      'writes an outcome that is known already with a claim that is new, and leaves one in force as it is',
      onLedger(async (ledger, other) => {
        const known = (owner: string, value: string, now = 0, key = 'k') => ({ ...ask(owner, now, key), value });
        expect(await ledger.claim(known('a', 'done'))).toEqual(owned('a', 'done'));
        expect(await other.claim(known('a', 'done otherwise'))).toEqual(owned('a', 'done'));
        expect(await other.claim(known('b', 'done by b'))).toEqual(owned('a', 'done'));
        expect(await ledger.settle('k', 'a', 'done later')).toEqual(owned('a', 'done'));
        expect(await ledger.release('k', 'a')).toBe(false);
        expect(await other.find('k')).toEqual(owned('a', 'done'));

        await ledger.claim(ask('a', 0, 'open'));
        expect(await other.claim(known('a', 'done', 5, 'open'))).toEqual(owned('a', null, 0, 'open'));
        expect(await other.claim(known('b', 'done', 5, 'open'))).toEqual(owned('a', null, 0, 'open'));
        expect(await other.find('open')).toEqual(owned('a', null, 0, 'open'));

        const [open, settled] = await Promise.all([
          ledger.claim(ask('b', ttlMs, 'k')),
          other.claim(known('b', 'done by b', ttlMs, 'open')),
        ]);
        expect([open, settled]).toEqual([owned('b', null, ttlMs), owned('b', 'done by b', ttlMs, 'open')]);
      }),
    );

    it(
      'has one outcome among many who claim with one at once, beside others who claim without',
      onLedger(async (ledger, other) => {
        const asked = await Promise.all(
          ['1', '2', '3', '4', '5', '6'].map((owner, index) => {
            const request = { ...ask(owner), ...(index % 3 === 2 ? {} : { value: `by ${owner}` }) };
            return (index % 2 === 0 ? ledger : other).claim(request);
          }),
        );
        const [first] = asked as [Claim];
        expect(new Set(asked.map((claim) => JSON.stringify(Object.entries(claim).sort()))).size).toBe(1);
        expect(first.value).toBe(['3', '6'].includes(first.owner) ? null : `by ${first.owner}`);
        expect(await other.find('k')).toEqual(first);
      }),
    );

    it(
      'has one outcome among many who settle at once',
      onLedger(async (ledger, other) => {
        await ledger.claim(ask('a'));
        const settled = await Promise.all(
          ['1', '2', '3', '4'].map((value, index) => (index % 2 === 0 ? ledger : other).settle('k', 'a', value)),
        );
        expect(new Set(settled.map(({ value }) => value)).size).toBe(1);
        expect(await ledger.find('k')).toEqual(settled[0]);
      }),
    );

    it(
      'refuses an outcome for a claim that is another’s or gone, without harm to what is asked beside it',
      onLedger(async (ledger) => {
        await ledger.claim(ask('a'));
        const [others, gone, beside] = await Promise.allSettled([
          ledger.settle('k', 'b', 'mine'),
          ledger.settle('never', 'b', 'mine'),
          ledger.claim(ask('c', 0, 'beside')),
        ]);
        expect(others).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(/held by a/) } });
        expect(gone).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(/gone/) } });
        expect(beside).toMatchObject({ status: 'fulfilled' });
        expect(await ledger.find('k')).toEqual(owned('a'));
        expect(await ledger.find('beside')).toMatchObject({ owner: 'c' });
      }),
    );

    it(
      'takes back a claim without outcome, for its owner only',
      onLedger(async (ledger) => {
        await ledger.claim(ask('a'));
        expect(await ledger.release('k', 'b')).toBe(false);
        expect(await ledger.release('k', 'a')).toBe(true);
        expect(await ledger.release('k', 'a')).toBe(false);
        expect(await ledger.find('k')).toBeUndefined();
        expect(await ledger.claim(ask('b', 5))).toEqual(owned('b', null, 5));
        await ledger.settle('k', 'b', 'done');
        expect(await ledger.release('k', 'b')).toBe(false);
        expect(await ledger.find('k')).toEqual(owned('b', 'done', 5));
      }),
    );

    it(
      'counts an expired claim as gone, outcome and all: the next who asks has it, and the former owner has not',
      onLedger(async (ledger, other) => {
        await ledger.claim(ask('a'));
        await ledger.settle('k', 'a', 'done');
        expect(await other.claim(ask('b', ttlMs - 1))).toEqual(owned('a', 'done'));
        const [b, c] = await Promise.all([ledger.claim(ask('b', ttlMs)), other.claim(ask('c', ttlMs))]);
        expect(b).toEqual(c);
        expect(b).toMatchObject({ value: null, claimedAt: ttlMs });
        await expect(ledger.settle('k', 'a', 'late')).rejects.toThrow(/held by/);
      }),
    );

    it(
      'sweeps all that has expired, however much that is',
      onLedger(async (ledger) => {
        const keys = Array.from({ length: 1_100 }, (_, n) => `k-${n}`);
        await Promise.all(keys.map((key) => ledger.claim(ask('a', 0, key))));
        await ledger.claim(ask('a', ttlMs, 'later'));
        expect(await ledger.sweep(ttlMs)).toBe(keys.length);
        expect(await ledger.find('later')).toMatchObject({ owner: 'a' });
      }),
    );

    it(
      'sweeps what has expired and nothing else',
      onLedger(async (ledger) => {
        for (const now of [0, 100, 200]) await ledger.claim(ask('a', now, `k-${now}`));
        await ledger.settle('k-0', 'a', 'done');
        expect(await ledger.sweep(ttlMs + 100)).toBe(2);
        expect(await ledger.find('k-0')).toBeUndefined();
        expect(await ledger.find('k-100')).toBeUndefined();
        expect(await ledger.find('k-200')).toMatchObject({ owner: 'a' });
        expect(await ledger.sweep(ttlMs + 100)).toBe(0);
      }),
    );

    it(
      'keeps keys, owners and outcomes as they are',
      onLedger(async (ledger) => {
        const odd = ['', ' ', '✓ “ü”\n', "'; DROP TABLE claims; --", 'x'.repeat(20_000)];
        for (const text of odd) {
          const whole = { key: `w${text}`, owner: `o${text}`, value: text };
          await ledger.claim({ ...whole, now: 0, ttlMs });
          expect(await ledger.find(whole.key)).toEqual({ ...whole, claimedAt: 0, expiresAt: ttlMs });
          await ledger.claim({ key: `k${text}`, owner: `o${text}`, now: 0, ttlMs });
          expect(await ledger.settle(`k${text}`, `o${text}`, text)).toEqual({
            key: `k${text}`,
            owner: `o${text}`,
            value: text,
            claimedAt: 0,
            expiresAt: ttlMs,
          });
        }
      }),
    );

    it(
      'tells keys apart that differ in half a character alone, or in what another one is kept as',
      onLedger(async (ledger, other) => {
        const keys = ['k\ud800', 'k\udbff', 'k\ud800\ud800', 'k\ufffd', 'k', 'k\0', 'sha256/k'];
        for (const [at, key] of keys.entries())
          expect(await ledger.claim(ask(`o-${at}`, 0, key))).toEqual(owned(`o-${at}`, null, 0, key));
        expect(await ledger.release('k\udbff', 'o-1')).toBe(true);
        expect(await other.settle('k\ud800', 'o-0', 'done')).toEqual(owned('o-0', 'done', 0, 'k\ud800'));
        const found = await Promise.all(keys.map(async (key) => (await other.find(key))?.owner));
        expect(found).toEqual(['o-0', undefined, 'o-2', 'o-3', 'o-4', 'o-5', 'o-6']);
      }),
    );

    it(
      'answers nothing after it is closed, and may be closed twice',
      onLedger(async (ledger) => {
        await ledger.close();
        await ledger.close();
        await expect(ledger.claim(ask('a'))).rejects.toMatchObject({ code: 'ledger_unreachable' });
        await expect(ledger.find('k')).rejects.toMatchObject({ code: 'ledger_unreachable' });
      }),
    );

    it('behaves like a map that forgets what has expired, also under concurrent calls', onLedger(againstModel), testMs);
  });
}
