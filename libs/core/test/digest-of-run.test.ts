import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { digestOfRun } from '../src/grant/run-digest.js';

/** What a digest is over, said as simply as it can be: sorted names, without what is absent. Signatures on logs are over it, so it stays. */
function plainly(value: unknown, without: readonly string[] = []): string {
  if (Array.isArray(value)) return `[${value.map((item) => plainly(item)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([name, member]) => member !== null && member !== undefined && !without.includes(name))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${plainly(member)}`);
  return `{${members.join(',')}}`;
}

const textOf = (text: string): string => text;

/** What does not change any more is written once, and must be the same each time. */
const frozenLists = [
  Object.freeze([]),
  Object.freeze(['a', '"']),
  Object.freeze(['a', 1]),
  Object.freeze([...'abcdefgh"']),
  Object.freeze([...'abcdefgh', null]),
  Object.freeze([null]),
];

const names = fc.constantFrom('a', 'b', 'c', 'toString', '10', '9', 'é', '"', '', 'inputTokens', 'history');
const { record: value } = fc.letrec<{ value: unknown; record: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, undefined, true, false, 0, -0, 1.5, 1e21, NaN, Infinity),
    fc.string({ unit: 'grapheme' }),
    fc.array(fc.string()),
    fc.constantFrom(...frozenLists),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('record'),
  ),
  // Names in any order, and the same names in another order right after.
  record: fc
    .uniqueArray(fc.tuple(names, tie('value')), { selector: ([name]) => name, maxLength: 6 })
    .map((members) => Object.fromEntries(members)),
}));

describe('the text that a digest of a run is over', () => {
  it('has sorted names and nothing that is absent, whatever came before it', () => {
    fc.assert(
      fc.property(value, value, (request, run) => {
        const expected = `[]${plainly(request, ['history'])}${plainly(run, ['inputTokens', 'outputTokens'])}`;
        fc.pre(!expected.includes('\\ud'));
        expect(digestOfRun({ ...request, history: [] }, run, textOf)).toBe(expected);
        const turned = Object.fromEntries(Object.entries(run).toReversed());
        expect(digestOfRun({ ...request, history: [] }, turned, textOf)).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is the same for records with more shapes than are remembered', () => {
    for (let n = 0; n < 500; n++) {
      const run = { [`z${n}`]: 1, [`a${n % 7}`]: 2 };
      expect(digestOfRun({ history: [] }, run, textOf)).toBe(`[]{}${plainly(run)}`);
    }
  });
});
