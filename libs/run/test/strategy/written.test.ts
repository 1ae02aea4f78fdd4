import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readWritten } from '../../src/calls.js';
import { planIn } from '../../src/strategy/plan.js';
import { reviewIn } from '../../src/strategy/review.js';

/** A number, and ways to write it that JSON has: zeros behind the point, exponents, minus zero. */
const spelled = fc
  .record({
    digits: fc.integer({ min: 0, max: 9_999 }),
    places: fc.integer({ min: 0, max: 4 }),
    zeros: fc.integer({ min: 0, max: 3 }),
    exponent: fc.integer({ min: -5, max: 5 }),
    mark: fc.constantFrom('e', 'E', 'e+', ''),
    sign: fc.constantFrom('', '-'),
  })
  .map(({ digits, places, zeros, exponent, mark, sign }) => {
    const padded = String(digits).padStart(places + 1, '0');
    const whole = padded.slice(0, padded.length - places);
    const fraction = padded.slice(padded.length - places) + '0'.repeat(zeros);
    const point = fraction === '' ? '' : `.${fraction}`;
    const power = mark === '' ? '' : `${mark.slice(0, 1)}${mark.endsWith('+') && exponent >= 0 ? '+' : ''}${exponent}`;
    return `${sign}${whole}${point}${power}`;
  });

describe('what a model wrote as JSON', () => {
  it('has the same numbers however they are spelled', () => {
    fc.assert(
      fc.property(spelled, (text) => {
        expect(readWritten(`{"n": [${text}]}`)).toEqual({ n: [Number(text)] });
      }),
    );
  });

  it('is a plan, whatever the numbers of its steps look like', () => {
    fc.assert(
      fc.property(spelled, spelled, (confidence, seconds) => {
        const step = `{"tool":"t","why":"w","after":[1.0],"confidence":${confidence},"retries":2e0,"timeout_seconds":${seconds}}`;
        const plan = planIn(`{"steps":[${step}]}`);
        expect(plan?.steps).toEqual([
          {
            ...{ tool: 't', why: 'w', after: [1], arguments: null, state: null },
            ...{ confidence: Number(confidence), retries: 2, timeoutMs: Number(seconds) * 1_000 },
          },
        ]);
      }),
    );
  });

  it('is a judge’s word: 0.0 is none at all, and 0.10 little', () => {
    fc.assert(
      fc.property(spelled, (text) => {
        const review = reviewIn(`{"review":{"why":"w","confidence":${text}}}`);
        expect(review?.confidence).toBe(Math.min(1, Math.max(0, Number(text))));
      }),
    );
  });

  it('leaves a step’s own arguments as they were spelled', () => {
    expect(
      planIn(JSON.stringify({ steps: [{ tool: 't', why: 'w', arguments: '{"price": 1.50}' }] }))?.steps[0],
    ).toMatchObject({
      arguments: '{"price": 1.50}',
    });
  });

  it('is nothing where it is no JSON, or nested deeper than JSON may be', () => {
    expect(readWritten('{"n": 1.')).toBeUndefined();
    expect(readWritten(`${'['.repeat(5_000)}1.0${']'.repeat(5_000)}`)).toBeUndefined();
  });
});
