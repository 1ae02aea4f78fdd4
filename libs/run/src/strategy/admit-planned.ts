import { approvalAsks, countCall, defaultConfidence, isConfidence, isPlanned } from '@sluice/core';
import type {
  ApprovalAsk,
  ConfiguredTool,
  Evaluator,
  JsonValue,
  Policy,
  RuleFacts,
  ToolEffect,
  Verdict,
} from '@sluice/core';
import type { RequestedCall, ToolCall } from '@sluice/contracts';
import { mergedAsks } from '../approvals/asks.js';
import { expected } from './confidence/expected.js';
import type { Expected } from './confidence/expected.js';
import { offeredIds } from '../tool-list.js';
import { flowOf, heldStep } from './confidence/flow.js';
import { personalReview } from './confidence/move.js';
import { planIn } from './plan.js';
import { needsPlan, planProgress } from './progress.js';
import type { PlanProgress } from './progress.js';
import { reviewIn, reviewOf } from './review.js';
import { refused, walkPlan } from './walk.js';

interface PlannedCall {
  readonly record: ToolCall;
  readonly call: RequestedCall;
  readonly index: number;
}

/** Of a run that works by a plan: whether the call is what the plan has next. Of any other run every call is. */
export function inPlan({ record, call, index }: PlannedCall, evaluator: Evaluator): Verdict {
  const { strategy } = record.run;
  if (strategy === null || !isPlanned(strategy.name)) return { ok: true };
  if (isConfidence(strategy.name)) {
    const next = expectedOf(record, evaluator);
    return index === 0 && isExpected(call, next, evaluator) ? { ok: true } : notPlanned(wantedNext(next));
  }
  const progress = planProgress(record, evaluator);
  if (index === 0 && isNext(call, progress, evaluator)) return { ok: true };
  return notPlanned(wanted(progress));
}

function notPlanned(instead: string): Verdict {
  const message = `The run works by a plan, and this call is not the next step of it, so it was not made. ${instead}`;
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

/** What the run’s next call is to be, by the same rule that the agent asks by. */
function expectedOf(record: ToolCall, evaluator: Evaluator): Expected {
  const { request } = record;
  const offered = offeredIds(record, evaluator);
  return expected(flowOf(record, evaluator), { state: request.state, offered }, evaluator);
}

function isExpected(call: RequestedCall, next: Expected, { byId }: Evaluator): boolean {
  const called = byId(call.tool);
  if (called === undefined) return false;
  switch (next.kind) {
    case 'plan':
      return called.plan !== undefined;
    case 'call':
      return called.id === next.tool.id && (next.step.arguments ?? call.arguments) === call.arguments;
    case 'retry':
    case 'simplify':
      return next.tools.some(({ id }) => id === called.id);
    case 'judge':
      return called.id === next.planner.id;
    case 'override':
      if (called.id !== next.planner.id) return false;
      return next.by === 'model' || call.arguments === personalReview(next);
    case 'answer':
    case 'partial':
      return false;
  }
}

function wantedNext(next: Expected): string {
  switch (next.kind) {
    case 'plan':
      return 'Make a plan first.';
    case 'call':
      return `The next step calls ${next.step.tool}.`;
    case 'retry':
    case 'simplify':
      return `Step ${next.step.number} is made again, with one of: ${next.tools.map(({ id }) => id).join(', ')}.`;
    case 'judge':
    case 'override':
      return `The result of step ${next.step.number} is reviewed first.`;
    case 'answer':
    case 'partial':
      return 'The plan is over: answer.';
  }
}

/** How long the plan lets the call run, in milliseconds; Infinity where it says nothing. */
export function plannedMs({ record, index }: Pick<PlannedCall, 'record' | 'index'>, evaluator: Evaluator): number {
  const { strategy } = record.run;
  if (index !== 0 || strategy === null || !isConfidence(strategy.name)) return Infinity;
  return heldStep(flowOf(record, evaluator))?.limitMs ?? Infinity;
}

/**
 * Whether a plan can be walked from the turn that brings it, under every configuration; of a call of any other tool
 * nothing is said. The plan is read from the very text that the run goes by later.
 */
export function planVerdict(
  record: ToolCall,
  tool: ConfiguredTool | undefined,
  text: string,
  at: number,
  judges: readonly [Evaluator, ...Evaluator[]],
): Verdict {
  if (tool?.plan === undefined) return { ok: true };
  const plan = planIn(text);
  const misplaced = misplacedIn(record, tool.plan.maxPlans, plan !== null, reviewIn(text) !== null, judges[0]);
  if (misplaced !== null) return misplaced;
  // Arguments of another form the tool’s own check refuses.
  if (plan === null) return { ok: true };
  const { request, run } = record;
  const toolCalls = countCall(run.toolCalls, tool.id, { outcome: 'ok', reason: null });
  const { maxSteps, confidence = defaultConfidence } = tool.plan;
  // A step whose result the model judges takes a turn more.
  const turnsPerStep = isConfidence(run.strategy?.name ?? '') && confidence.judge === 'model' ? 2 : 1;
  const bounds = { maxSteps, turnsPerStep, turnsLeft: run.maxIterations - run.iteration };
  return walkPlan(plan, { request, run: { ...run, toolCalls }, at }, bounds, judges);
}

/**
 * Why steps or a review come where they cannot be taken; null where they can. Steps where a review is asked for are a
 * new plan, as long as the run may have one. The refusal counts, as that of any plan, so that a model that gives the
 * same again does not use up the run.
 */
function misplacedIn(
  record: ToolCall,
  maxPlans: number,
  isPlan: boolean,
  isReview: boolean,
  granting: Evaluator,
): Verdict | null {
  const name = record.run.strategy?.name ?? '';
  if (!isPlanned(name)) return null;
  const next = isConfidence(name) ? expectedOf(record, granting).kind : 'plan';
  if (next === 'plan' && isReview)
    return refused('A plan was asked for and a review came.', 'Give the steps of a plan, and no review.');
  if (next === 'plan' || !isPlan || flowOf(record, granting).plans < maxPlans) return null;
  return refused(
    `A review was asked for and steps came, and the run has made all of its ${maxPlans} plans.`,
    'The run goes on without a review.',
  );
}

/**
 * All that asks for an approval of the call, under either configuration. A review of a result is no plan, so `approve`
 * says nothing of it; that a plan goes on with a result below its threshold a person decides where either
 * configuration says so.
 */
export function asksOf(
  record: ToolCall,
  tool: { readonly id: string; readonly effect: ToolEffect },
  args: JsonValue,
  { facts, state }: { readonly facts: RuleFacts; readonly state: string },
  judges: readonly Evaluator[],
): readonly ApprovalAsk[] {
  const review = isConfidence(record.run.strategy?.name ?? '') ? reviewOf(args) : null;
  const takesPlans = judges[0]?.byId(tool.id)?.plan !== undefined;
  const asks = judges.map(({ byId, configuration: { policy, lists = {} } }) => {
    const call = { args, facts, state, lists };
    const known = byId(tool.id) ?? { id: tool.id, spec: null };
    if (review === null || !takesPlans) return approvalAsks(known, policy, call);
    const { plan, ...withoutPlan } = known as ConfiguredTool;
    const isPersonal = review.decision !== null && (plan?.confidence ?? defaultConfidence).override === 'person';
    return isPersonal ? [overrideAsk(policy)] : approvalAsks(withoutPlan, policy, call);
  });
  return mergedAsks(asks);
}

function overrideAsk({ approvers, approvalMs: expiresMs }: Policy): ApprovalAsk {
  const message = 'The plan goes on with a result below its threshold, which a person decides.';
  return { rule: 'plan', name: '', message, quorum: 1, approvers, escalate: null, expiresMs, onExpiry: 'refuse' };
}
