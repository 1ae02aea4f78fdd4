import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ConfiguredTool } from '@sluice/core';
import { scoreStep } from '../../src/strategy/confidence/score.js';

type Tool = NonNullable<Parameters<typeof scoreStep>[1]>;

function tool(changes: Partial<ConfiguredTool> & { readonly effect?: string } = {}): Tool {
  const { effect = 'read_only', ...others } = changes;
  return { type: 'any', mcp: null, spec: { effect }, ...others } as unknown as Tool;
}

const mcpPlace = { server: 's', tool: 't' } as ConfiguredTool['mcp'];
const kinds = {
  graph: tool({ type: 'knowledge-query', category: 'graph' }),
  list: tool({ category: 'todo' }),
  text: tool({ type: 'text-completion' }),
  prompt: tool({ mcp: { ...mcpPlace, kind: 'prompt' } as ConfiguredTool['mcp'] }),
  mcp: tool({ mcp: mcpPlace }),
  change: tool({ effect: 'state_change' }),
};

function given(of: Tool | undefined, observation: unknown, outcome = 'ok') {
  const text = typeof observation === 'string' ? observation : JSON.stringify(observation);
  return scoreStep({ outcome, observation: text } as Parameters<typeof scoreStep>[0], of);
}

describe('the confidence in a result', () => {
  it('of a graph grows with its rows, and falls with gaps and with what was cut off', () => {
    const graph = (count: number, more: object = {}) =>
      given(kinds.graph, { rows: Array.from({ length: count }, (_, n) => ({ name: `n${n}` })), count, ...more })
        .formula;
    expect([0, 1, 3, 5, 50].map((count) => graph(count))).toEqual([0.1, 0.8, 0.9, 1, 1]);
    expect(graph(5, { truncated: true })).toBe(0.8);
    expect(given(kinds.graph, { rows: [{ a: 'x', b: '' }], count: 1 })).toEqual({
      ...{ kind: 'graph', formula: 0.6, inputs: { rows: 1, filled: 0.5, truncated: 0, bytes: 37 } },
    });
    // Rows as lists, as Cypher gives them.
    expect(given(kinds.graph, { columns: ['a'], rows: [['x'], [null]], truncated: false })).toMatchObject({
      ...{ formula: 0.6375, inputs: { rows: 2, filled: 0.5 } },
    });
  });

  it('of a text falls with what it does not know, and with a missing end', () => {
    const sentence = 'France borders eight countries, of which Spain, Germany and Italy are the largest ones.';
    expect(given(kinds.text, { text: sentence })).toMatchObject({ kind: 'text', formula: 0.85 });
    expect(given(kinds.text, { text: `${sentence.slice(0, -1)} and also` }).inputs).toMatchObject({ cut: 1 });
    expect(given(kinds.text, { text: 'I don’t know.' }).formula).toBeLessThan(0.4);
    expect(given(kinds.text, { text: '' }).formula).toBe(0);
    expect(given(kinds.prompt, sentence).kind).toBe('text');
  });

  it('of another server’s tool goes by its form', () => {
    expect(given(kinds.mcp, { status: 'done', size: 3 })).toMatchObject({ kind: 'mcp', formula: 0.9 });
    expect(given(kinds.mcp, 'It is done.').formula).toBe(0.8);
    expect(given(kinds.mcp, 'Error: no such host').formula).toBe(0.32);
    expect(given(kinds.mcp, '').formula).toBe(0.1);
    expect(given(kinds.mcp, { items: [], count: 0 }).formula).toBe(0.1);
    expect(given(kinds.mcp, [{ type: 'text', text: 'Error: no' }]).inputs).toMatchObject({ error: 1, structured: 0 });
  });

  it('is halved by each hedge, and quartered at most', () => {
    const mcp = (said: unknown) => given(kinds.mcp, said);
    const long = 'France borders eight countries, of which Spain, Germany and Italy are the largest ones.';
    const hedged = [`I do not know. ${long}`, `I am unsure, and there is no information. ${long}`];
    const more = `We don’t know, we are not sure, it cannot be determined and was not found. ${long}`;
    expect([long, ...hedged, more].map((said) => given(kinds.text, said).formula)).toEqual([
      0.85, 0.425, 0.2125, 0.2125,
    ]);
    expect([long, ...hedged, more].map((said) => mcp(said).formula)).toEqual([0.8, 0.4, 0.2, 0.2]);
    // Data is measured by its form: a word in it is no hedge.
    expect(mcp({ status: 'no information' })).toMatchObject({ formula: 0.9, inputs: { hedges: 0 } });
  });

  it.each([
    ...['I don’t know', 'we do not know', 'I am unable to say', 'We are unsure', 'I’m not sure'],
    ...[
      'It cannot be found',
      'I could not find it',
      'I can’t say',
      'no results',
      'no answer',
      'no match',
      'no matches',
    ],
    ...['not available', 'not enough information', 'Not known'],
  ])('takes “%s” for a hedge', (words) => {
    expect(given(kinds.text, `${words}.`).inputs).toMatchObject({ hedges: 1 });
  });

  it('of a list goes by whether there is anything in it', () => {
    expect(given(kinds.list, { items: [], total: 0 })).toMatchObject({ kind: 'list', formula: 0.2 });
    expect(given(kinds.list, { items: [1, 2], has_more: true }).formula).toBe(0.704);
    expect(given(kinds.list, { name: 'x' })).toMatchObject({ kind: 'other', formula: 0.8 });
    expect(given(kinds.list, '').formula).toBe(0.2);
  });

  it('of a change is that it happened, and of a failure is none', () => {
    expect(given(kinds.change, 'done')).toEqual({ kind: 'change', formula: 0.95, inputs: { done: 1 } });
    for (const of of [...Object.values(kinds), undefined])
      expect(given(of, 'It failed.', 'execution')).toEqual({ kind: 'failed', formula: 0, inputs: {} });
  });

  it('is from 0 to 1 for any result of any tool, and the same each time', () => {
    const observation = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((json) => `{"rows":[${json}],"truncated":true}`),
    );
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(kinds), undefined), observation, (of, text) => {
        const score = given(of, text);
        expect(score.formula).toBeGreaterThanOrEqual(0);
        expect(score.formula).toBeLessThanOrEqual(1);
        expect(Object.values(score.inputs).every(Number.isFinite)).toBe(true);
        expect(given(of, text)).toEqual(score);
      }),
      { numRuns: 1_000 },
    );
  });

  it('never falls with another row, and never rises where the result was cut', () => {
    fc.assert(
      fc.property(fc.nat({ max: 30 }), fc.boolean(), (count, truncated) => {
        const of = (rows: number, cut: boolean) =>
          given(kinds.graph, { rows: Array.from({ length: rows }, () => ({ n: 'x' })), truncated: cut }).formula;
        expect(of(count + 1, truncated)).toBeGreaterThanOrEqual(of(count, truncated));
        expect(of(count, true)).toBeLessThanOrEqual(of(count, false));
      }),
    );
  });
});
