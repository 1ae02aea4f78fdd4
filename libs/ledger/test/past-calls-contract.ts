import { describe, expect, it } from '@jest/globals';
import type { PastLimit, PastRequest } from '@sluice/core';
import type { StoredLedger } from '@sluice/ledger';

const million = 1_000_000n;
const day = 86_400_000;

function call(callKey: string, more: Partial<PastRequest> & { readonly amount?: bigint } = {}): PastRequest {
  const { amount = million, ...rest } = more;
  return {
    ...{ callKey, now: 1_000, keepMs: day, runningMs: 60_000, claim: null, limits: [] },
    marks: [{ scope: 'user/a', item: 'sum', amount }],
    ...rest,
  };
}

function atMost(limit: bigint, more: Partial<PastLimit> = {}): PastLimit {
  const common = { scope: 'user/a', items: ['sum'], since: 0, isRunningOnly: false };
  return { ...common, adds: million, atMost: limit, ...more };
}

const count = (calls: number, more = {}) => ({
  ...{ calls, succeeded: 0, running: calls, last: null, amount: BigInt(calls) * million },
  ...more,
});

/** What every ledger must do for rules with a span. `open` gives a ledger of the test’s own, and a second one. */
export function pastCallsContract(
  name: string,
  open: () => Promise<{ readonly ledger: StoredLedger; readonly other: StoredLedger; close(): Promise<void> }>,
): void {
  const onBoth = (work: (ledger: StoredLedger, other: StoredLedger) => Promise<void>) => async () => {
    const { ledger, other, close } = await open();
    try {
      await work(ledger, other);
    } finally {
      await close();
    }
  };
  const sums = (ledger: StoredLedger, now = 2_000, since = 0) =>
    ledger.past.read([{ scope: 'user/a', item: 'sum', since }], now).then(([one]) => one);

  describe(`${name}: the contract of past calls`, () => {
    it(
      'lets calls begin up to the limit, says what was used, and writes nothing of one that is over it',
      onBoth(async (ledger, other) => {
        const limits = [atMost(2n * million)];
        expect(await ledger.past.begin(call('1', { limits }))).toEqual({ kind: 'begun', used: [0n], claim: null });
        expect(await other.past.begin(call('2', { limits }))).toEqual({ kind: 'begun', used: [million], claim: null });
        const over = await ledger.past.begin(call('3', { limits: [atMost(9n * million), ...limits] }));
        expect(over).toEqual({ kind: 'over', used: [2n * million, 2n * million], limit: 1 });
        expect(await sums(other)).toEqual(count(2));
        expect(await ledger.past.begin(call('4'))).toMatchObject({ kind: 'begun', used: [] });
      }),
    );

    it(
      'asked again for the same call, answers as it did, whatever was counted since',
      onBoth(async (ledger, other) => {
        const limits = [atMost(2n * million)];
        await ledger.past.begin(call('1', { limits }));
        await other.past.begin(call('2', { limits }));
        expect(await other.past.begin(call('1', { limits }))).toEqual({ kind: 'begun', used: [0n], claim: null });
        expect(await sums(ledger)).toEqual(count(2));
      }),
    );

    it(
      'never lets calls side by side pass a limit together, of whichever process',
      onBoth(async (ledger, other) => {
        const limits = [atMost(20n * million)];
        const answers = await Promise.all(
          Array.from({ length: 64 }, (_, at) => (at % 2 === 0 ? ledger : other).past.begin(call(`${at}`, { limits }))),
        );
        expect(answers.filter(({ kind }) => kind === 'begun')).toHaveLength(20);
        expect(await sums(ledger)).toEqual(count(20));
      }),
    );

    it(
      'claims the effect with the marks or neither, and says who holds it',
      onBoth(async (ledger, other) => {
        const claim = (owner: string, key = 'k') => ({ key, owner, now: 1_000, ttlMs: day });
        const limits = [atMost(million)];
        expect(await ledger.past.begin(call('1', { limits, claim: claim('a') }))).toEqual({
          ...{ kind: 'begun', used: [0n] },
          claim: { key: 'k', owner: 'a', value: null, claimedAt: 1_000, expiresAt: 1_000 + day },
        });
        expect(await other.past.begin(call('1', { limits, claim: claim('b') }))).toMatchObject({
          ...{ kind: 'held', claim: { owner: 'a' } },
        });
        const over = await other.past.begin(call('2', { limits, claim: claim('b', 'k2') }));
        expect(over).toMatchObject({ kind: 'over', limit: 0 });
        expect(await ledger.find('k2')).toBeUndefined();
        expect(await sums(ledger)).toEqual(count(1));
        expect(await other.claim(claim('b'))).toMatchObject({ owner: 'a' });
      }),
    );

    it(
      'gives back what a call without effect reserved, and keeps how the others ended, once',
      onBoth(async (ledger, other) => {
        for (const key of ['1', '2', '3', '4']) await ledger.past.begin(call(key));
        await other.past.end('1', 'none');
        await other.past.end('2', 'succeeded');
        await ledger.past.end('2', 'none');
        await ledger.past.end('3', 'failed');
        await ledger.past.end('never', 'failed');
        expect(await sums(other)).toEqual(count(3, { succeeded: 1, running: 1, last: 'failed' }));
        await ledger.past.begin(call('5', { now: 1_500 }));
        await ledger.past.end('5', 'succeeded');
        expect(await sums(other)).toEqual(count(4, { succeeded: 2, running: 1, last: 'succeeded' }));
      }),
    );

    it(
      'settles an estimate by what was used',
      onBoth(async (ledger, other) => {
        const marks = ['tokens', 'usd'].map((item) => ({ scope: 'user/a', item, amount: 500n * million }));
        await ledger.past.begin(call('1', { marks }));
        await other.past.end('1', 'succeeded', { tokens: 1_234_567n });
        const asked = ['tokens', 'usd'].map((item) => ({ scope: 'user/a', item, since: 0 }));
        const amounts = (await ledger.past.read(asked, 2_000)).map(({ amount }) => amount);
        expect(amounts).toEqual([1_234_567n, 500n * million]);
      }),
    );

    it(
      'says of a call that came again whether its end was written',
      onBoth(async (ledger, other) => {
        await ledger.past.begin(call('1'));
        expect(await other.past.begin(call('1'))).toEqual({ kind: 'begun', used: [], claim: null });
        await ledger.past.end('1', 'failed');
        const again = { kind: 'begun', used: [], claim: null, hasEnded: true };
        expect(await other.past.begin(call('1'))).toEqual(again);
      }),
    );

    it(
      'names the newest mark that has to leave the span before a limit holds',
      onBoth(async (ledger, other) => {
        const begin = (key: string, now: number, amount: bigint) => ledger.past.begin(call(key, { now, amount }));
        await begin('1', 1_000, 3n * million);
        await begin('2', 1_010, 2n * million);
        await begin('3', 1_020, 1n * million);
        await begin('3b', 1_020, 0n);
        const blockedBy = (limit: bigint, more: Partial<PastLimit> = {}) =>
          other.past.blockedBy(atMost(limit * million, more));
        expect(await Promise.all([7n, 6n, 4n, 3n, 2n, 1n, 0n].map((limit) => blockedBy(limit)))).toEqual([
          ...[null, 1_000, 1_000, 1_010, 1_010, 1_020, null],
        ]);
        expect(await blockedBy(3n, { since: 1_010 })).toBeNull();
        expect(await blockedBy(1n, { since: 1_010 })).toBe(1_020);
        expect(await blockedBy(1n, { adds: 2n * million })).toBeNull();
        const mark = { scope: 'user/a', item: 'other', amount: 5n * million };
        await ledger.past.begin(call('4', { now: 1_005, marks: [mark] }));
        expect(await blockedBy(4n, { items: ['sum', 'other'] })).toBe(1_005);
      }),
    );

    it(
      'counts what began since a time alone, and calls of lost processes as running for their time alone',
      onBoth(async (ledger) => {
        await ledger.past.begin(call('1', { now: 1_000, runningMs: 500 }));
        await ledger.past.begin(call('2', { now: 1_001, runningMs: 500 }));
        expect(await sums(ledger, 1_400, 1_000)).toEqual(count(1));
        expect(await sums(ledger, 1_500)).toEqual(count(2, { running: 1 }));
        expect(await sums(ledger, 1_501)).toEqual(count(2, { running: 0 }));
        const limits = [atMost(0n, { isRunningOnly: true, adds: 0n })];
        expect(await ledger.past.begin(call('3', { now: 1_500, limits }))).toMatchObject({ kind: 'over' });
        expect(await ledger.past.begin(call('3', { now: 1_501, limits }))).toMatchObject({ kind: 'begun' });
      }),
    );

    it(
      'lets a call that waits count as running for longer, and never for less',
      onBoth(async (ledger, other) => {
        for (const key of ['1', '2', '3']) await ledger.past.begin(call(key, { runningMs: 500 }));
        await ledger.past.end('2', 'succeeded');
        for (const key of ['1', '2', 'never']) await other.past.keepRunning(key, 5_000);
        await other.past.keepRunning('3', 1_200);
        expect(await sums(ledger, 1_499)).toMatchObject({ calls: 3, running: 2 });
        expect(await sums(ledger, 4_999)).toMatchObject({ running: 1 });
        expect(await sums(ledger, 5_000)).toMatchObject({ running: 0 });
      }),
    );

    it(
      'says of a call that goes on what the others did',
      onBoth(async (ledger, other) => {
        await ledger.past.begin(call('1'));
        await ledger.past.begin(call('2'));
        await ledger.past.end('1', 'succeeded');
        await ledger.past.end('2', 'failed');
        const asked = [{ scope: 'user/a', item: 'sum', since: 0 }];
        const known = await Promise.all([null, '1', '2'].map((key) => other.past.read(asked, 2_000, key)));
        expect(known.map(([one]) => [one?.calls, one?.last, one?.amount])).toEqual([
          [2, 'failed', 2n * million],
          [1, 'failed', million],
          [1, 'succeeded', million],
        ]);
      }),
    );

    it(
      'sums several items, each scope for itself, and amounts beyond what a number holds',
      onBoth(async (ledger, other) => {
        const large = 2n ** 62n;
        const mark = (scope: string, item: string, amount: bigint) => ({ scope, item, amount });
        const marks = [mark('user/a', 'x', large), mark('user/a', 'y', large - 1n), mark('user/\ud800', 'x\0', 7n)];
        await ledger.past.begin(call('1', { marks }));
        const limits = [
          atMost(2n ** 63n, { items: ['x', 'y'], adds: 1n }),
          atMost(7n, { scope: 'user/\ud800', items: ['x\0', 'y'], adds: 0n }),
          atMost(0n, { scope: 'user/\udbff', items: ['x\0'], adds: 0n }),
        ];
        const used = [2n * large - 1n, 7n, 0n];
        expect(await other.past.begin(call('2', { limits }))).toMatchObject({ kind: 'begun', used });
        // Units of which a number holds no sum.
        const most = 9_000_000_000_000n * million;
        const many = Array.from({ length: 1_010 }, (_, at) => mark(`user/m`, 'x', most - BigInt(at)));
        await ledger.past.begin(call('many', { marks: many }));
        const sum = many.reduce((total, { amount }) => total + amount, 0n);
        const [read] = await other.past.read([{ scope: 'user/m', item: 'x', since: 0 }], 2_000);
        expect(read).toMatchObject({ calls: 1_010, amount: sum });
        const over = [atMost(sum, { scope: 'user/m', items: ['x'], adds: 1n })];
        expect(await ledger.past.begin(call('over', { limits: over }))).toEqual({
          kind: 'over',
          used: [sum],
          limit: 0,
        });
      }),
    );

    it(
      'sweeps what is kept no longer, and nothing else',
      onBoth(async (ledger, other) => {
        const short = Array.from({ length: 1_100 }, (_, at) => ledger.past.begin(call(`s${at}`, { keepMs: 10 })));
        await Promise.all(short);
        await ledger.past.begin(call('long', { keepMs: 11 }));
        await other.past.sweep(1_010);
        expect(await sums(ledger)).toEqual(count(1));
        await other.past.sweep(1_011);
        expect(await sums(ledger)).toEqual(count(0));
      }),
    );

    it(
      'is closed with the ledger, and says so',
      onBoth(async (ledger) => {
        await ledger.close();
        const closed = { code: 'ledger_unreachable', message: expect.stringMatching(/closed/) };
        await expect(ledger.past.begin(call('1'))).rejects.toMatchObject(closed);
        await expect(ledger.past.end('1', 'none')).rejects.toMatchObject(closed);
        await expect(ledger.past.read([{ scope: 's', item: 'i', since: 0 }], 1)).rejects.toMatchObject(closed);
        await expect(ledger.past.blockedBy(atMost(1n))).rejects.toMatchObject(closed);
        await expect(ledger.past.sweep(0)).rejects.toMatchObject(closed);
      }),
    );
  });
}
