import { describe, expect, it } from '@jest/globals';
import { compileEvaluator, eligible, pastFactName, pastFactText } from '@sluice/core';
import type { AvailabilityRule, RuleFacts } from '@sluice/core';
import fc from 'fast-check';
import { configurationOf, manyTools } from '../../../bench/rules.js';

const tools = manyTools(3).map((tool) => ({ ...tool, groups: ['all'], states: ['*'], target: null }));
const ids = tools.map(({ id }) => id);
const spans = [
  { within: 'session', inLastMs: 60_000 },
  { within: 'user', inLastMs: 3_600_000 },
] as const;

const some = fc.subarray(ids, { maxLength: 2 });
const rule = fc.record({
  tools: fc.subarray(ids, { minLength: 1 }),
  history: fc.record({
    ...{ past: fc.constantFrom(...spans), after: some, notAfter: some, afterSuccessLast: some, notWhileRunning: some },
    ...{ atMost: fc.constantFrom(null, 1, 3), whileApproved: fc.constant([]) },
  }),
});
const count = fc.record({
  ...{ calls: fc.nat(4), succeeded: fc.nat(2), running: fc.nat(1) },
  last: fc.constantFrom(null, 'succeeded' as const, 'failed' as const),
});
/** Of each tool and span what was counted; undefined: it was not found out. */
const counts = fc.array(fc.option(count, { nil: undefined, freq: 4 }), { minLength: 6, maxLength: 6 });

type Drawn = readonly Omit<AvailabilityRule, 'name'>[];
const evaluatorOf = (rules: Drawn, order: 1 | -1 = 1) => {
  const named = rules
    .map((one, n) => ({ ...one, name: `rule-${n}` }))
    .sort((a, b) => order * a.name.localeCompare(b.name));
  return compileEvaluator({ ...configurationOf(tools), rules: named });
};
const factsOf = (found: readonly (Parameters<typeof pastFactText>[0] | undefined)[]): RuleFacts => ({
  ...{ at: 0, tenant: 'acme', actor: 'user:ann', agent: '', channel: 'http', question: '', claims: {} },
  ...{ loads: {}, held: [], succeeded: {}, approved: {}, spent: { tokens: 0, microUsd: null } },
  facts: Object.fromEntries(
    spans.flatMap((span, s) =>
      ids.flatMap((toolId, t): [string, string][] => {
        const one = found[s * ids.length + t];
        return one === undefined ? [] : [[pastFactName({ ...span, toolId }), pastFactText(one)]];
      }),
    ),
  ),
});
const about = { groups: ['all'], state: 's', calls: {}, connections: [], depth: 0 };
const offeredBy = (rules: Drawn, facts: RuleFacts, order: 1 | -1 = 1): readonly string[] =>
  evaluatorOf(rules, order)
    .evaluate({ ...about, toolIds: null, rules: facts })
    .offered.map(({ id }) => id);

describe('rules about calls within a span, whatever they are', () => {
  const world = fc.tuple(fc.array(rule, { minLength: 1, maxLength: 3 }), counts.map(factsOf));

  it('offer a tool exactly where they let a call of it through', () => {
    let [open, closed] = [0, 0];
    fc.assert(
      fc.property(world, ([rules, facts]) => {
        const evaluator = evaluatorOf(rules);
        const offered = offeredBy(rules, facts);
        for (const id of ids) {
          const call = { ...about, offered: new Set(ids), toolChoice: null, completed: false, rules: facts };
          const { ok } = eligible(id, call, { granting: evaluator, inForce: evaluator });
          if (ok) open++;
          else closed++;
          expect([id, ok]).toEqual([id, offered.includes(id)]);
        }
      }),
      { numRuns: 200 },
    );
    expect(Math.min(open, closed)).toBeGreaterThan(30);
  });

  it('say the same in any order, and one more of them opens nothing', () => {
    fc.assert(
      fc.property(world, rule, ([rules, facts], more) => {
        const offered = offeredBy(rules, facts);
        expect(offeredBy(rules, facts, -1)).toEqual(offered);
        for (const id of offeredBy([...rules, more], facts)) expect(offered).toContain(id);
      }),
      { numRuns: 200 },
    );
  });
});
