import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  canonicalJson,
  deepestJson,
  equalJson,
  jsonBytes,
  JsonTooLargeError,
  NotJsonError,
  plainJson,
} from '@sluice/core';
import type { JsonValue } from '@sluice/core';

const large = 1_000_000;
const cycle: Record<string, unknown> = {};
cycle['self'] = cycle;
const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let at = 0; at < levels; at++) value = [value];
  return value;
};

describe('JSON values (L-04)', () => {
  it.each([
    ['a number that is not finite', NaN],
    ['infinity', { a: [Infinity] }],
    ['a bigint', { a: 1n }],
    ['a function', { toJSON: () => 'other' }],
    ['a symbol', [Symbol('s')]],
    ['a date', new Date(0)],
    ['a map', { a: new Map() }],
    [
      'an instance whose toJSON lies',
      new (class Lie {
        toJSON = 1;
      })(),
    ],
    ['a cycle', cycle],
    ['nesting without an end', nested(100_000)],
    ['nothing', undefined],
    ['a hole', [1, , 2]], // eslint-disable-line no-sparse-arrays
  ])('are not %s', (_, value) => {
    expect(() => plainJson(value, large)).toThrow(NotJsonError);
    expect(() => jsonBytes(value, large)).toThrow(NotJsonError);
  });

  it('are what JSON text brings back, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.stringify(plainJson(value, large))).toBe(text);
        expect(jsonBytes(value, large)).toBe(Buffer.byteLength(text));
      }),
    );
  });

  it('are equal where their canonical text is', () => {
    const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;
    const near = value.chain((one) => fc.tuple(fc.constant(one), fc.oneof(value, fc.constant(structuredClone(one)))));
    fc.assert(
      fc.property(near, ([one, other]) => {
        expect(equalJson(one, other)).toBe(canonicalJson(one) === canonicalJson(other));
      }),
    );
    expect(equalJson({ a: 1, b: [null] }, { b: [null], a: 1 })).toBe(true);
    expect(equalJson({ a: 1 }, { b: 1 })).toBe(false);
    expect(equalJson([], {})).toBe(false);
    expect(equalJson({ a: 1 }, { a: 1, b: 2 })).toBe(false);
  });

  it.each(['ü', '\u0001', '\n"\\', '𝄞', '\ud800', '\udc00x', '\u007f', '\u2028'])(
    'are counted in bytes of their text: %j',
    (text) => {
      expect(jsonBytes({ [text]: text }, large)).toBe(Buffer.byteLength(JSON.stringify({ [text]: text })));
    },
  );

  it('may be nested 128 levels deep', () => {
    expect(jsonBytes(nested(deepestJson), large)).toBe(2 * deepestJson + 1);
    expect(() => jsonBytes(nested(deepestJson + 1), large)).toThrow(NotJsonError);
  });

  it('may come from another realm, and leave out what is undefined', () => {
    expect(plainJson(runInContext('({ a: [1], b: undefined })', createContext({})), large)).toEqual({ a: [1] });
  });

  it('are measured exactly to the limit, and no further than it', () => {
    expect(jsonBytes('abc', 5)).toBe(5);
    expect(() => jsonBytes('abc', 4)).toThrow(JsonTooLargeError);
    let looks = 0;
    const endless = new Proxy([], { get: (_, key) => (looks++, key === 'length' ? 2 ** 32 - 1 : 1) });
    expect(() => jsonBytes(endless, 32_768)).toThrow(JsonTooLargeError);
    expect(() => plainJson(endless, 32_768)).toThrow(JsonTooLargeError);
    expect(looks).toBeLessThan(3 * 32_768);
  });

  it('are read once: a getter that changes its mind changes nothing', () => {
    let asked = 0;
    const copied = plainJson(
      {
        get a() {
          return ++asked;
        },
      },
      large,
    );
    expect([copied, copied]).toEqual([{ a: 1 }, { a: 1 }]);
    expect(asked).toBe(1);
  });

  it('keep a member named __proto__ as a member', () => {
    const copied = plainJson(JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'), large);
    expect(JSON.stringify(copied)).toBe('{"__proto__":{"polluted":true},"constructor":1}');
    expect(Object.getPrototypeOf(copied)).toBe(Object.prototype);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
