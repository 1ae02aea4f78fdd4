import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Ledger, RateLimiter } from '@sluice/core';

/** All that an implementation gives to be held to the contract. */
export interface RatesHarness {
  /** A limiter of the test's own, and another connection to it as a second process has. */
  open(): Promise<{ readonly rates: Closable; readonly other: Closable; close(): Promise<void> }>;
}

type Closable = RateLimiter & Pick<Ledger, 'close'>;

/**
 * What every limiter must do (M-81, T-19b). The windows are real time, long enough that a slow machine does not end
 * one in mid-test.
 */
export function ratesContract(name: string, harness: RatesHarness): void {
  const onRates = (work: (rates: Closable, other: Closable) => Promise<void>) => async () => {
    const { rates, other, close } = await harness.open();
    try {
      await work(rates, other);
    } finally {
      await close();
    }
  };
  const ask = (key = 'k', limit = 3, windowMs = 60_000) => ({ key, limit, windowMs });

  describe(`${name}: the contract of limits per window`, () => {
    it(
      'lets the limit pass, whichever process asks, and says of the next how long the window lasts yet',
      onRates(async (rates, other) => {
        for (const [left, one] of [rates, other, rates].entries()) {
          const answer = await one.take(ask());
          expect(answer).toEqual({ within: true, remaining: 2 - left, resetMs: expect.any(Number) });
          if (answer.within) expect(answer.resetMs).toBeLessThanOrEqual(60_000);
        }
        for (const one of [other, rates]) {
          const answer = await one.take(ask());
          expect(answer).toEqual({ within: false, retryAfterMs: expect.any(Number) });
          if (answer.within) continue;
          expect(answer.retryAfterMs).toBeGreaterThan(30_000);
          expect(answer.retryAfterMs).toBeLessThanOrEqual(60_000);
        }
      }),
    );

    it(
      'counts each key for itself, odd ones included',
      onRates(async (rates, other) => {
        const keys = [
          'a',
          'b',
          '["t/1","x"]',
          '',
          '✓ “ü”\0',
          '\ud800',
          '\udbff',
          "'; DROP TABLE rates; --",
          'x'.repeat(20_000),
        ];
        for (const key of keys) {
          expect(await rates.take(ask(key, 1))).toMatchObject({ within: true });
          expect(await other.take(ask(key, 1))).toMatchObject({ within: false });
        }
      }),
    );

    it(
      'lets exactly the limit pass among many who ask at once',
      onRates(async (rates, other) => {
        const answers = await Promise.all(
          Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? rates : other).take(ask('k', 20))),
        );
        expect(answers.filter(({ within }) => within)).toHaveLength(20);
      }),
    );

    it(
      'begins a new window when the last one is over',
      onRates(async (rates, other) => {
        const short = ask('k', 1, 1_000);
        expect(await rates.take(short)).toMatchObject({ within: true });
        const refused = await other.take(short);
        expect(refused).toMatchObject({ within: false });
        await delay((refused.within ? 0 : refused.retryAfterMs) + 20);
        expect(await other.take(short)).toMatchObject({ within: true });
        expect(await rates.take(short)).toMatchObject({ within: false });
      }),
    );

    it(
      'holds what was counted against another limit, since it is the same window',
      onRates(async (rates) => {
        for (let n = 0; n < 3; n++) await rates.take(ask('k', 100));
        expect(await rates.take(ask('k', 3))).toMatchObject({ within: false });
        expect(await rates.take(ask('k', 100))).toMatchObject({ within: true });
      }),
    );

    it(
      'lets no call pass after it is closed',
      onRates(async (rates, other) => {
        await rates.close();
        await expect(rates.take(ask())).rejects.toMatchObject({ code: 'ledger_unreachable' });
        expect(await other.take(ask())).toMatchObject({ within: true });
      }),
    );

    it(
      'forgets windows that are over when it sweeps, and no others',
      onRates(async (rates) => {
        await rates.take(ask('k', 1));
        await rates.sweepRates(Date.now());
        expect(await rates.take(ask('k', 1))).toMatchObject({ within: false });
        await rates.sweepRates(Date.now() + 120_000);
        expect(await rates.take(ask('k', 1))).toMatchObject({ within: true });
      }),
    );
  });
}

/** A ledger's harness as one of limits. */
export function asRates(opened: { readonly ledger: Closable; readonly other: Closable; close(): Promise<void> }) {
  return { rates: opened.ledger, other: opened.other, close: opened.close };
}
