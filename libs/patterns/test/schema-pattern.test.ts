import { describe, expect, it } from '@jest/globals';
import { matchesInTime, RegexTimeBudget } from '@sluice/patterns';

/** Each would take longer than a test may. */
const hostile: readonly (readonly [pattern: string, text: string])[] = [
  ['(a+)+$', `${'a'.repeat(100)}b`],
  [`${'(.{0,1000})'.repeat(45)}z`, 'x'.repeat(4_000)],
  ['(?:[a-z]{1,1000}){1,300}$', `${'a'.repeat(5_000)}1`],
];

describe('a pattern of a schema', () => {
  it.each(hostile)('is stopped after its time: %.30s', (pattern, text) => {
    expect(matchesInTime(pattern, text)).toBeNull();
  });

  it('shares its time with the others of a check', () => {
    const budget = new RegexTimeBudget();
    const [slow, quick] = [budget.regExp('(a+)+$'), budget.regExp('^b$')];
    budget.begin();
    expect(quick.test('b')).toBe(true);
    expect(slow.test(`${'a'.repeat(100)}b`)).toBe(false);
    expect(quick.test('b')).toBe(false);
    budget.begin();
    expect(quick.test('b')).toBe(true);
  });

  it('is read no longer than an engine reads quickly', () => {
    expect(() => matchesInTime('(a)'.repeat(1_334), 'a')).toThrow(SyntaxError);
    expect(matchesInTime('a'.repeat(4_000), 'a'.repeat(4_000))).toBe(true);
  });
});
