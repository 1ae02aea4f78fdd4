import { countCall, isPlanned } from '@sluice/core';
import type { ConfiguredTool, Evaluator, JsonValue, Verdict } from '@sluice/core';
import type { RequestedCall, ToolCall } from '@sluice/contracts';
import { planOf } from './plan.js';
import { needsPlan, planProgress } from './progress.js';
import type { PlanProgress } from './progress.js';
import { walkPlan } from './walk.js';

/** Of a run that works by a plan: whether the call is what the plan has next. Of any other run every call is. */
export function inPlan(
  { record, call, index }: { readonly record: ToolCall; readonly call: RequestedCall; readonly index: number },
  evaluator: Evaluator,
): Verdict {
  const { strategy } = record.run;
  if (strategy === null || !isPlanned(strategy.name)) return { ok: true };
  const progress = planProgress(record, evaluator);
  if (index === 0 && isNext(call, progress, evaluator)) return { ok: true };
  const message = `The run works by a plan, and this call is not the next step of it, so it was not made. ${wanted(progress)}`;
  return { ok: false, code: 'policy_denied', reason: 'not_planned', message };
}

function isNext(call: RequestedCall, progress: PlanProgress, { tool, byId }: Evaluator): boolean {
  const called = byId(call.tool);
  if (called === undefined) return false;
  if (needsPlan(progress)) return called.plan !== undefined && progress.plans < called.plan.maxPlans;
  const { next } = progress;
  if (next === null || tool(next.tool)?.id !== called.id) return false;
  return next.arguments === null || next.arguments === call.arguments;
}

function wanted(progress: PlanProgress): string {
  if (needsPlan(progress)) return 'Make a plan first.';
  return progress.next === null ? 'The plan is done: answer.' : `The next step calls ${progress.next.tool}.`;
}

/** Whether a plan can be walked from the turn that brings it, under every configuration; of a call of any other tool nothing is said. */
export function planVerdict(
  record: ToolCall,
  tool: ConfiguredTool | undefined,
  args: JsonValue,
  at: number,
  judges: readonly Evaluator[],
): Verdict {
  const plan = tool?.plan === undefined ? null : planOf(args);
  // Arguments of another form the tool’s own check refuses.
  if (plan === null || tool?.plan === undefined) return { ok: true };
  const { request, run } = record;
  const toolCalls = countCall(run.toolCalls, tool.id, { outcome: 'ok', reason: null });
  const bounds = { maxSteps: tool.plan.maxSteps, turnsLeft: run.maxIterations - run.iteration };
  return walkPlan(plan, { request, run: { ...run, toolCalls }, at }, bounds, judges);
}
