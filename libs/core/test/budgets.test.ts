import { describe, expect, it } from '@jest/globals';
import { budgetOf, budgetUsed, countCall, needsApproval, noCalls, toolEffects } from '@sluice/core';
import type { Budgets, CallCounts, ToolBudget, ToolEffect } from '@sluice/core';
import { readCases } from '../../configuration/test/read-cases.js';

const none: ToolBudget = { timeoutMs: null, resultBytes: null, callsPerRun: null, callsPerMinute: null };

interface Case {
  readonly name: string;
  readonly requirements: string;
  readonly callsPerRun?: number;
  readonly ran: readonly (readonly [tool: string, outcome: string, reason?: string])[];
  readonly counts: CallCounts;
  readonly used: Readonly<Record<string, 'tool' | 'run'>>;
}

describe('the calls of a run', () => {
  const cases = readCases<readonly Case[]>('budgets.yaml');
  it.each(cases.map((one) => [`${one.name} (${one.requirements})`, one] as const))('%s', (_name, one) => {
    const budgets: Budgets = {
      callsPerRun: one.callsPerRun ?? null,
      tools: { a: { ...none, callsPerRun: 2 }, b: { ...none, callsPerRun: 1 } },
    };
    const counts = one.ran.reduce<CallCounts>(
      (calls, [tool, outcome, reason = null]) => countCall(calls, tool, { outcome, reason }),
      noCalls,
    );
    expect(counts).toEqual(one.counts);
    const used = ['a', 'b', 'c'].map((tool) => [tool, budgetUsed(tool, counts, budgets)] as const);
    expect(Object.fromEntries(used.filter(([, by]) => by !== null))).toEqual(one.used);
  });
});

describe('the budget of a call', () => {
  const policy = (budget: Partial<ToolBudget>) => ({
    budgets: { callsPerRun: null, tools: { a: { ...none, ...budget } } },
  });

  it('is the lowest of each under all policies', () => {
    const granting = policy({ timeoutMs: 5, resultBytes: 7, callsPerMinute: 3 });
    const inForce = policy({ timeoutMs: 9, resultBytes: 2, callsPerRun: 1 });
    const lowest = { timeoutMs: 5, resultBytes: 2, callsPerRun: 1, callsPerMinute: 3 };
    expect(budgetOf('a', granting, inForce)).toEqual(lowest);
    expect(budgetOf('a', inForce, granting)).toEqual(lowest);
  });

  it('is none for a tool that is not named, whatever it is called', () => {
    for (const name of ['b', 'constructor', '__proto__'])
      expect(budgetOf(name, policy({ timeoutMs: 5 }))).toEqual(none);
  });
});

describe('an approval (T-17b, XB-14)', () => {
  const tool = (effect: ToolEffect) => ({
    spec: { name: 't', description: '', inputSchema: {}, redaction: { whole: true as const }, effect, schemaHash: '' },
  });

  it.each<[readonly ToolEffect[], readonly boolean[]]>([
    [[], [false, false, false]],
    [
      ['state_change', 'external_side_effect'],
      [false, true, true],
    ],
    [['read_only'], [true, false, false]],
  ])('is needed for the effects that are listed: %j', (approvalEffects, expected) => {
    expect(toolEffects.map((effect) => needsApproval(tool(effect), { approvalEffects }))).toEqual(expected);
  });

  it('is needed by an undescribed tool as for the worst effect', () => {
    expect(needsApproval({ spec: null }, { approvalEffects: ['external_side_effect'] })).toBe(true);
    expect(needsApproval({ spec: null }, { approvalEffects: [] })).toBe(false);
  });
});
