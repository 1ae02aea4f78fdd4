import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cut, wellFormed, wellFormedJson } from '@sluice/core';

/** Texts that hold halves of surrogate pairs, whole pairs, and what looks like an escape. */
const plain = ['a', 'é', '\u{1f600}', '\ud83d', '\ude00', '\ufffd', 'u'];
const madeOf = (pieces: readonly string[]) =>
  fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((chosen) => chosen.join(''));
const odd = madeOf([...plain, '\\', '\\ud83d', '"']);
/** Without what JSON escapes: V8 of Node 24 may take a name that is written with escapes for another one. */
const oddName = madeOf(plain);

describe('a text with half a surrogate pair', () => {
  it('becomes well-formed wherever it stands, names included; what is well-formed stays the very value', () => {
    const kept = { list: ['a', 1, null], inner: { b: '\u{1f600}' }, bytes: new Uint8Array([1]) };
    expect(wellFormed(kept)).toBe(kept);
    expect(wellFormed({ 'k\ud800': ['x\udc00', { y: '\ud83dz' }] })).toEqual({
      'k\ufffd': ['x\ufffd', { y: '\ufffdz' }],
    });
    expect(wellFormed('\ude00\ud83d')).toBe('\ufffd\ufffd');
  });

  it('stays where it is deeper than JSON may be, without a stack overflow', () => {
    let deep: unknown = '\ud83d';
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(wellFormed(deep)).toBe(deep);
  });

  it('keeps a member that is called __proto__', () => {
    const value = JSON.parse('{"__proto__":"\\ud83d"}') as object;
    expect(JSON.stringify(wellFormed(value))).toBe('{"__proto__":"\ufffd"}');
  });

  it('as JSON text comes to the same as the value does, escaped or not', () => {
    fc.assert(
      fc.property(fc.dictionary(oddName, fc.array(odd)), (value) => {
        const escaped = JSON.stringify(value);
        const raw = escaped.replace(/\\u(d[89a-f]..)/g, (_, unit: string) => String.fromCharCode(parseInt(unit, 16)));
        const upper = escaped.replace(
          /(?<=(?:^|[^\\])(?:\\\\)*)\\u(d[89a-f]..)/g,
          (_, unit: string) => `\\u${unit.toUpperCase()}`,
        );
        for (const text of [escaped, upper]) expect(JSON.parse(wellFormedJson(text))).toEqual(wellFormed(value));
        expect(wellFormedJson(raw).isWellFormed()).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('as JSON text with escaped pairs, and as text that is no JSON, stays as it is', () => {
    for (const text of ['{"a":"\\ud83d\\ude00"}', '"\\\\ud83d"', 'no JSON \\', '{"a":"\\u00e9"}'])
      expect(wellFormedJson(text)).toBe(text);
  });

  it('is never made by a cut', () => {
    fc.assert(
      fc.property(odd, fc.nat(50), (text, most) => {
        const short = cut(text.toWellFormed(), most);
        expect(short.isWellFormed()).toBe(true);
        expect(short.length).toBeLessThanOrEqual(most);
      }),
    );
  });
});
