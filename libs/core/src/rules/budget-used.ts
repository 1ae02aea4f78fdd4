import type { Budgets } from '../settings/policy-types.js';
import type { Step } from '../run/step.js';
import type { CallCounts } from './call-counts.js';

/** Which budget leaves the tool no further call in this run: its own, or the run's for all tools; null if none does. */
export function budgetUsed(toolId: string, calls: CallCounts, budgets: Budgets): 'tool' | 'run' | null {
  const own = Object.hasOwn(budgets.tools, toolId) ? budgets.tools[toolId]?.callsPerRun : null;
  if (own !== null && own !== undefined && callsOf(toolId, calls) >= own) return 'tool';
  return runBudgetUsed(calls, budgets) ? 'run' : null;
}

/** Whether the run has made all the calls that it may make. */
export function runBudgetUsed(calls: CallCounts, { callsPerRun }: Pick<Budgets, 'callsPerRun'>): boolean {
  return callsPerRun !== null && allCalls(calls) >= callsPerRun;
}

/** The counts after a step. Only a call that was run counts: a refusal uses nothing up. */
export function countCall(calls: CallCounts, toolId: string, step: Pick<Step, 'outcome' | 'reason'>): CallCounts {
  return wasRun(step) ? { ...calls, [toolId]: callsOf(toolId, calls) + 1 } : calls;
}

/** Whether the tool began; an unknown outcome counts, since it may have. */
function wasRun({ outcome, reason }: Pick<Step, 'outcome' | 'reason'>): boolean {
  if (outcome === 'validation') return reason === 'output_invalid';
  if (outcome === 'execution') return reason !== 'deadline';
  return outcome === 'ok' || outcome === 'redaction_failed';
}

function callsOf(toolId: string, calls: CallCounts): number {
  return Object.hasOwn(calls, toolId) ? (calls[toolId] ?? 0) : 0;
}

function allCalls(calls: CallCounts): number {
  let sum = 0;
  for (const count of Object.values(calls)) sum += count;
  return sum;
}
