import { describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import { defaultRetry, judge } from '../../src/processing/retry.js';
import type { Verdict } from '../../src/processing/retry.js';

const away = (until?: number) =>
  new Fault('model_unreachable', 'No answer.', true, until === undefined ? {} : { until });

/**
 * The waits between attempts that fail at once, each with the time at which it begins, up to the verdict that ends
 * them.
 */
function waits(fault: Fault): { readonly begun: readonly number[]; readonly end: Verdict } {
  const begun: number[] = [];
  for (let now = 0, attempt = 1; ; attempt++) {
    const verdict = judge(fault, attempt, defaultRetry, now);
    if (verdict.kind === 'dead') return { begun, end: verdict };
    begun.push(now);
    now += verdict.waitMs;
  }
}

describe('a fault that may pass', () => {
  it('is retried for a number of attempts, and its code stays beside that of the end', () => {
    const { begun, end } = waits(away());
    expect(begun).toHaveLength(defaultRetry.attempts - 1);
    expect(end).toMatchObject({ kind: 'dead', code: 'retries_exhausted', lastFault: 'model_unreachable' });
    expect(end).toHaveProperty('reason', expect.stringMatching(/10 times; the last fault was model_unreachable/));
  });

  it('is retried until its own end if it has one, however often, and not beyond', () => {
    const { begun, end } = waits(away(300_000));
    expect(begun.length).toBeGreaterThan(30);
    expect(end).toMatchObject({ code: 'retries_exhausted', lastFault: 'model_unreachable' });
    const last = begun.at(-1) as number;
    expect(last).toBeGreaterThan(299_000);
    expect(last).toBeLessThan(300_000);
  });

  it('that comes after its own end is not retried', () => {
    expect(judge(away(1_000), 1, defaultRetry, 1_000)).toMatchObject({ kind: 'dead', lastFault: 'model_unreachable' });
  });
});

describe('what will not pass', () => {
  it.each([
    ['a fault', new Fault('model_refused', 'It says 401.', false), 'model_refused'],
    ['any other exception', new TypeError('x is undefined'), 'unexpected'],
  ])('%s is not retried, and no retries ended with it', (_, error, code) => {
    expect(judge(error, 1, defaultRetry, 0)).toMatchObject({ kind: 'dead', code, lastFault: null });
  });
});
