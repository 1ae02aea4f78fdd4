import type { Policy, ToolBudget } from '../settings/policy-types.js';

export const noBudget: ToolBudget = { timeoutMs: null, resultBytes: null, callsPerRun: null, callsPerMinute: null };

/** What a call of the tool may use under all of these policies: the lowest of each (a later one may only deny). */
export function budgetOf(toolId: string, ...policies: readonly Pick<Policy, 'budgets'>[]): ToolBudget {
  return policies
    .map(({ budgets }) => (Object.hasOwn(budgets.tools, toolId) ? budgets.tools[toolId] : undefined) ?? noBudget)
    .reduce(
      (one, other) => ({
        timeoutMs: lower(one.timeoutMs, other.timeoutMs),
        resultBytes: lower(one.resultBytes, other.resultBytes),
        callsPerRun: lower(one.callsPerRun, other.callsPerRun),
        callsPerMinute: lower(one.callsPerMinute, other.callsPerMinute),
      }),
      noBudget,
    );
}

function lower(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
