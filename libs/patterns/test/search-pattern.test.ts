import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expandedSize, largestProgram, longestPattern } from '@sluice/core';
import { OutOfTime, searchPattern } from '@sluice/patterns';

describe('a pattern of a stranger for a search', () => {
  it.each([
    ['forty-five repetitions of a thousand', '(.{0,1000})'.repeat(45)],
    ['one repetition too many', 'a{1001}'],
    ['a repeated group', '(?:abcdefghijk){100}'],
    ['a repeated literal text', '(?:\\Q(((((((((((((((((((((\\E){60}'],
    ['repetitions in each other', '(?:(?:a{1,10}){1,10}){1,10}'],
    ['a large class, often', '[\\p{L}\\p{N}]{1000}x{100}'],
    ['a named group', '(?P<name>[^]]{9}){200}'],
    ['more characters than are read', 'a'.repeat(longestPattern + 1)],
    ['what is no pattern', 'read('],
    ['what a linear engine cannot have', '(?=read)'],
  ])('is not run with %s', (_, pattern) => {
    expect(searchPattern(pattern)).toBeNull();
  });

  it.each([
    ['READ.*FILE', 'reads no read_file', true],
    ['(?:get|list)_[a-z]{1,40}s?$', 'list_pods', true],
    ['\\p{Lu}{2,3}', 'éà', true],
    ['[]a-c]{2}', 'x]b', true],
    ['^\\Q{3}\\E$', '{3}', true],
    ['a{3', 'aaa', false],
  ])('is run: %s in %s', (pattern, text, isFound) => {
    expect(searchPattern(pattern)?.find(text)).toBe(isFound);
  });

  it('is counted before an engine writes its repetitions out, and never far below what the engine then has', () => {
    const atom = fc.constantFrom(
      'a',
      '.',
      '[a-z]',
      '[^]x]',
      '\\d',
      '\\pL',
      '\\p{Greek}',
      '(?:ab|c)',
      '(x)',
      '\\Qa.b\\E',
    );
    const count = fc.constantFrom('', '', '*', '+?', '?', '{2}', '{0,7}', '{3,}', '{1,20}', '{40}');
    const piece = fc.tuple(atom, count).map(([one, times]) => `${one}${times}`);
    const { concatenated } = fc.letrec<{ concatenated: string; nested: string }>((tie) => ({
      concatenated: fc
        .array(fc.oneof({ maxDepth: 3 }, piece, tie('nested')), { maxLength: 5 })
        .map((all) => all.join('')),
      nested: fc.tuple(tie('concatenated'), count).map(([inner, times]) => `(?:${inner}|q)${times}`),
    }));
    fc.assert(
      fc.property(concatenated, (pattern) => {
        let size: number;
        const counted = expandedSize(pattern);
        // A larger one is never compiled.
        if (counted > 50 * largestProgram) return;
        try {
          size = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE).programSize();
        } catch {
          return;
        }
        expect(size).toBeLessThanOrEqual(3 * counted + 10);
      }),
      { numRuns: 300 },
    );
  });

  it('looks at a part of a text that would take a large pattern long', () => {
    const text = `${'a'.repeat(100_000)}z`;
    expect(searchPattern('z')?.find(text)).toBe(true);
    expect(searchPattern('z|y{0,400}x')?.find(text)).toBe(false);
    expect(searchPattern('z|y{0,400}x')?.find('z')).toBe(true);
  });

  it('is stopped when all texts together take too long', () => {
    let now = 0;
    const pattern = searchPattern('b', () => (now += 30));
    expect(() => {
      for (let text = 0; text < 20; text++) pattern?.find('a');
    }).toThrow(OutOfTime);
    expect(now).toBeLessThan(700);
  });

  it('lets others have their turn between texts', async () => {
    let now = 0;
    const pattern = searchPattern('b', () => (now += 6));
    const turns: string[] = [];
    const other = new Promise<void>((resolve) => {
      setImmediate(() => {
        turns.push('other');
        resolve();
      });
    });
    pattern?.find('a');
    await pattern?.pause();
    turns.push('first text');
    pattern?.find('a');
    await pattern?.pause();
    turns.push('second text');
    await other;
    expect(turns).toEqual(['first text', 'other', 'second text']);
  });
});
