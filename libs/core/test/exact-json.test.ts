import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  canonicalJson,
  equalJson,
  inexactNumbers,
  jsonBytes,
  parseExactJson,
  plainJson,
  withPlainNumbers,
} from '@sluice/core';
import type { JsonValue } from '@sluice/core';

/** Number literals as JSON allows them, most of them unlike what JavaScript writes. */
const digits = fc.stringMatching(/^(0|[1-9]\d{0,30})$/);
const literal = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits,
    fc.option(fc.stringMatching(/^\d{1,25}$/), { nil: undefined }),
    fc.option(fc.stringMatching(/^[eE][-+]?\d{1,3}$/), { nil: undefined }),
  )
  .map(
    ([sign, whole, fraction, exponent]) =>
      `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${exponent ?? ''}`,
  );
const text = fc.oneof(fc.string({ unit: 'binary' }), literal).map((value) => JSON.stringify(value));
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    literal,
    text,
    fc.constantFrom('true', 'false', 'null'),
    fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(fc.string(), tie('json')), { maxLength: 4, selector: ([name]) => name })
      // Names that are array indices move to the front of any JavaScript object.
      .map((members) => members.filter(([name]) => !/^\d+$/.test(name)))
      .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
  ),
}));

describe('JSON with its numbers as they were written', () => {
  it('is written again as it was, whatever its numbers and texts', () => {
    fc.assert(
      fc.property(json, (source) => {
        const value = parseExactJson(source);
        expect(JSON.stringify(value)).toBe(source);
        expect(JSON.stringify(plainJson(value, Infinity))).toBe(source);
        expect(jsonBytes(value, Infinity)).toBe(Buffer.byteLength(source));
        expect(equalJson(value, parseExactJson(source))).toBe(true);
        expect(canonicalJson(parseExactJson(canonicalJson(value)))).toBe(canonicalJson(value));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is what JSON.parse gives where only the value counts', () => {
    fc.assert(
      fc.property(json, (source) => {
        expect(JSON.stringify(withPlainNumbers(parseExactJson(source)))).toBe(JSON.stringify(JSON.parse(source)));
      }),
    );
  });

  it.each<[string, readonly string[]]>([
    ['{"id":9007199254740991}', []],
    ['{"id":9007199254740993}', ['/id']],
    ['{"id":725653563933458433}', ['/id']],
    // A double holds it, but JavaScript writes …400.
    ['{"id":725653563933458432}', ['/id']],
    ['[1.0, 1e2, -0, 0.1, 1.10, 100]', []],
    ['[1e400, 0.10000000000000000555, 1e-400]', ['/0', '/1', '/2']],
    ['{"a":[{"b":12345678901234567890.5}]}', ['/a/0/b']],
    ['"9007199254740993"', []],
  ])('finds the numbers of %s that a double cannot hold', (source, expected) => {
    const found = inexactNumbers(parseExactJson(source)).map((path) => `/${path.join('/')}`);
    expect(found).toEqual(expected);
  });

  it('refuses what is not JSON, as JSON.parse does', () => {
    for (const source of ['', '{', '01', '1.', '.5', '1e', '{"a":1,}', "'a'", '12345678901234567890x'])
      expect(() => parseExactJson(source)).toThrow(SyntaxError);
  });

  it('keeps members that would change a prototype', () => {
    const value = parseExactJson('{"__proto__":{"a":12345678901234567890}}');
    expect(JSON.stringify(withPlainNumbers(value))).toBe('{"__proto__":{"a":12345678901234567000}}');
    expect((value as Record<string, JsonValue>)['a']).toBeUndefined();
  });
});
