import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { digestOfRun } from '../src/grant/run-digest.js';
import { isRequest, isRun } from '../src/grant/run-forms.js';

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

const names = fc.constantFrom('a', 'b', 'c', 'toString', '10', '9', 'é', '"', '', 'inputTokens', 'history');
const { record: value } = fc.letrec<{ value: unknown; record: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, undefined, true, false, 0, -0, 1.5, 1e21, NaN, Infinity),
    fc.string({ unit: 'grapheme' }),
    fc.array(fc.string()),
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

  const texts = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('work', '"', '\u2028')), {
    maxLength: 4,
  });
  const text = fc.string({ unit: 'grapheme' });
  const orNull = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary);
  const number = fc.oneof(fc.integer(), fc.double());
  const request = fc.record({
    question: text,
    state: orNull(text),
    group: orNull(texts),
    toolIds: orNull(texts),
    connections: orNull(texts),
    requestId: orNull(text),
    sessionId: orNull(text),
    maxIterations: orNull(number),
    deadline: orNull(number),
    userId: orNull(text),
    toolChoice: orNull(text),
    call: orNull(fc.record({ tool: text, arguments: text })),
  });
  const run = fc.record({
    iteration: number,
    maxIterations: number,
    startedAt: number,
    deadline: number,
    initialState: text,
    stateEnteredAt: number,
    stateTransitions: fc.array(fc.record({ tool: text, to: text, from: text, timestamp: number }), { maxLength: 2 }),
    requestedGroups: texts,
    availableTools: texts,
    filteredByGroup: texts,
    filteredByState: texts,
    inputTokens: number,
    outputTokens: number,
    toolCalls: fc.dictionary(fc.constantFrom('b__x', 'a__y', '__proto__', 'a__', 'é'), fc.nat()),
    principal: orNull(
      fc.record({ tenantId: text, actorId: text, subjectId: orNull(text), groups: texts, connections: texts }),
    ),
    redrive: orNull(text),
    answer: orNull(text),
    parent: orNull(fc.record({ tool: text, deadline: orNull(number) })),
  });

  it('is the same for the members that records have, which are written in one go', () => {
    fc.assert(
      fc.property(request, run, (asked, state) => {
        const expected = `[]${plainly(asked)}${plainly(state, ['inputTokens', 'outputTokens'])}`;
        fc.pre(!expected.includes('\\ud'));
        expect(digestOfRun({ ...asked, history: [] }, state, textOf)).toBe(expected);
        expect(isRequest({ ...asked, history: [] })).toBe(true);
        expect(isRun(state)).toBe(state.parent === null);
      }),
      { numRuns: 1_000 },
    );
  });

  it('has what nobody knew when the forms were written', () => {
    const asked = { ...fc.sample(request, { numRuns: 1, seed: 1 })[0], history: [] };
    const state = { ...fc.sample(run, { numRuns: 1, seed: 1 })[0], parent: null };
    const textWith = (more: object, later: object): string =>
      digestOfRun({ ...asked, ...more }, { ...state, ...later }, textOf);
    expect(textWith({ later: 'new' }, {})).toContain('"later":"new"');
    expect(textWith({}, { later: 'new' })).toContain('"later":"new"');
    expect(textWith({ later: null }, { later: null })).toBe(textWith({}, {}));
  });
});
