import { describe, expect, it } from '@jest/globals';
import { type RuleTool, compileRules } from '@sluice/core';
import fc from 'fast-check';

/** Tools as they are written, before defaulting. */
interface Written {
  readonly group: readonly string[] | null;
  readonly states: readonly string[] | null;
  readonly target: string | null;
}

/** The rule of groups and states, read word for word and tool by tool. */
function naive(tool: Written, group: readonly string[] | null, state: string | null): 'eligible' | 'group' | 'state' {
  const toolGroups = tool.group ?? ['default'];
  const toolStates = tool.states ?? ['*'];
  const requestedGroups = group ?? ['default'];
  const currentState = state === null || state === '' ? 'undefined' : state;
  const byGroup =
    requestedGroups.includes('*') || toolGroups.filter((name) => requestedGroups.includes(name)).length > 0;
  if (!byGroup) return 'group';
  return toolStates.includes(currentState) || toolStates.includes('*') ? 'eligible' : 'state';
}

const names = [
  'default',
  'read-only',
  'Read-Only',
  'write',
  'admin',
  'undefined',
  'analysis',
  '',
  '__proto__',
  'länger als nötig',
];
const tagName = fc.constantFrom(...names.filter((name) => name !== ''));
const written: fc.Arbitrary<Written> = fc.record({
  group: fc.option(fc.array(tagName, { maxLength: 4 })),
  states: fc.option(
    fc.array(fc.oneof({ weight: 8, arbitrary: tagName }, { weight: 1, arbitrary: fc.constant('*') }), { maxLength: 4 }),
  ),
  target: fc.option(tagName),
});
const requestName = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...names) }, fc.constant('*'), fc.string());
const request = fc.record({ group: fc.option(fc.array(requestName, { maxLength: 6 })), state: fc.option(requestName) });

function asRules(tools: readonly Written[]): readonly RuleTool[] {
  return tools.map((tool, i) => ({
    key: `tool-${String(i)}`,
    groups: tool.group ?? ['default'],
    states: tool.states ?? ['*'],
    target: tool.target,
  }));
}

describe('the compiled rule', () => {
  it('G-57, G-61, G-129: equals the naive one for every tool, in configuration order, also when asked again', () => {
    const world = fc.tuple(fc.array(written, { maxLength: 70 }), fc.array(request, { minLength: 1, maxLength: 20 }));
    fc.assert(
      fc.property(world, ([tools, requests]) => {
        const rules = compileRules(asRules(tools));
        for (const { group, state } of [...requests, ...requests]) {
          const decision = rules.decide(group, state);
          const keys = (verdict: string): readonly string[] =>
            tools.flatMap((tool, i) => (naive(tool, group, state) === verdict ? [`tool-${String(i)}`] : []));
          expect(decision.eligible).toEqual(keys('eligible'));
          expect(decision.filteredByGroup).toEqual(keys('group'));
          expect(decision.filteredByState).toEqual(keys('state'));
          const tags = new Set(['default', '*', ...tools.flatMap((tool) => tool.group ?? [])]);
          expect(decision.unknownGroups).toEqual([...new Set(group ?? [])].filter((name) => !tags.has(name)));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('G-109, G-113: counts what the naive rule counts', () => {
    fc.assert(
      fc.property(fc.array(written, { maxLength: 40 }), (tools) => {
        const rules = compileRules(asRules(tools));
        for (const [group, count] of rules.availabilityByGroup()) {
          expect(count).toBe(tools.filter((tool) => (tool.group ?? ['default']).includes(group)).length);
        }
        for (const [state, count] of rules.availabilityByState()) {
          expect(count).toBe(tools.filter((tool) => naive(tool, ['*'], state) === 'eligible').length);
        }
      }),
    );
  });
});
