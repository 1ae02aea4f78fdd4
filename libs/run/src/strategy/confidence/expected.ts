import { normaliseState, transition } from '@sluice/core';
import type { ConfiguredTool, Evaluator, Step } from '@sluice/core';
import { nextStep } from '../progress.js';
import type { NextStep } from '../progress.js';
import { quoted, whyNoPlan } from '../why-plan.js';
import { bestAttempt, heldStep, settled } from './flow.js';
import type { Attempt, Flow, HeldStep } from './flow.js';

/** Tools that a simpler call may be one of, at most. */
const mostTools = 8;

type Planner = ConfiguredTool & { readonly plan: NonNullable<ConfiguredTool['plan']> };

/**
 * What the run’s next call is to be, or that there is none. The agent asks for it, and the executor admits nothing
 * else.
 */
export type Expected =
  | { readonly kind: 'plan'; readonly planner: Planner; readonly why: string }
  | { readonly kind: 'call'; readonly step: HeldStep & NextStep; readonly tool: ConfiguredTool }
  | {
      readonly kind: 'retry' | 'simplify';
      readonly step: HeldStep;
      readonly attempt: number;
      readonly tools: readonly ConfiguredTool[];
      readonly why: string;
    }
  | { readonly kind: 'judge'; readonly step: HeldStep; readonly planner: Planner; readonly attempt: Attempt }
  | {
      readonly kind: 'override';
      readonly by: 'model' | 'person';
      readonly step: HeldStep;
      readonly planner: Planner;
      readonly best: Attempt;
    }
  | { readonly kind: 'answer' | 'partial'; readonly why: string };

/** What a turn goes by beside the flow: the state that it begins in, and the ids of the tools that it is offered. */
export interface TurnFacts {
  readonly state: string | null;
  readonly offered: readonly string[];
}

export function expected(flow: Flow, facts: TurnFacts, evaluator: Evaluator): Expected {
  const { ended, plan, attempts } = flow;
  const planner = plannerOf(flow, facts, evaluator);
  if (ended?.as === 'stop') return { kind: 'partial', why: `No more steps are made: ${quoted(ended.why)}` };
  if (plan === null || ended !== null) return anotherPlan(flow, planner, whyPlan(flow));
  if (flow.isJudging) {
    const attempt = attempts.at(-1);
    const step = heldStep(flow);
    if (planner === null || attempt === undefined || step === null) return expected(settled(flow), facts, evaluator);
    return { kind: 'judge', step, planner, attempt };
  }
  const step = heldStep(flow);
  const count = plan.steps.length;
  if (step === null && flow.givenUp > 0)
    return { kind: 'partial', why: `The plan has no steps, and ${flow.givenUp} of the plan before were not done.` };
  if (step === null)
    return { kind: 'answer', why: count === 0 ? 'The plan has no steps.' : `All ${count} steps of the plan are done.` };
  const tool = evaluator.tool(step.tool);
  if (tool === undefined) return anotherPlan(flow, planner, `There is no tool ${step.tool} any more.`);
  const last = attempts.at(-1);
  if (last === undefined) return { kind: 'call', step: nextStep(step, flow.results, evaluator), tool };
  const again = nextAttempt(flow, step, tool, facts, evaluator);
  if (again !== null) return again;
  const best = bestAttempt(flow);
  if (best === null)
    return anotherPlan(flow, planner, `Step ${step.number} of the plan failed: ${quoted(last.step.observation)}`);
  const { override } = flow.settings;
  if (override === 'none' || planner === null) return { kind: 'partial', why: measured(best, step) };
  return { kind: 'override', by: override, step, planner, best };
}

/** Another call for the step, where one is left and may be made. */
function nextAttempt(
  { attempts, settings }: Flow,
  step: HeldStep,
  tool: ConfiguredTool,
  { state, offered }: TurnFacts,
  evaluator: Evaluator,
): Expected | null {
  if (!attempts.every(mayFollow)) return null;
  const number = attempts.length + 1;
  const isOffered = offered.includes(tool.id);
  const isSimpler = attempts.some((one) => one.tool?.id !== tool.id);
  const last = attempts.at(-1) as Attempt;
  const why = measured(last, step);
  if (number <= step.attempts && isOffered && !isSimpler)
    return { kind: 'retry', step, attempt: number, tools: [tool], why };
  // The simpler call is one: it used another tool, or it came behind the last retry.
  if (!settings.simplify || isSimpler || number > step.attempts + 1) return null;
  const others = evaluator.configuration.tools.filter(
    (one) => one.id !== tool.id && offered.includes(one.id) && canStandIn(one, tool, normaliseState(state)),
  );
  const tools = [...(isOffered ? [tool] : []), ...others].slice(0, mostTools);
  return tools.length === 0 ? null : { kind: 'simplify', step, attempt: number, tools, why };
}

/** Codes of calls that were not made since they may not be: nothing about their arguments changes that. */
const denials: readonly string[] = ['policy_denied', 'authz_denied'];

/**
 * Whether another call may follow an attempt: never behind one that was denied, nor behind one that may have changed
 * something. That it is safe to repeat does not help: with other arguments it is another change.
 */
function mayFollow({ step, tool }: Attempt): boolean {
  if (denials.includes(step.outcome)) return false;
  return tool === undefined || tool.spec?.effect === 'read_only' || ranNothing(step);
}

function ranNothing({ outcome, reason }: Step): boolean {
  return (
    outcome === 'invalid_json' || (outcome === 'validation' && reason !== 'output_invalid') || reason === 'no_effect'
  );
}

/** A tool that reads, and leads to where the step’s own does, so that the rest of the plan holds. */
function canStandIn(one: ConfiguredTool, tool: ConfiguredTool, state: string): boolean {
  if (one.plan !== undefined || one.agent !== undefined || one.spec?.effect !== 'read_only') return false;
  return transition(one, state) === transition(tool, state);
}

function anotherPlan({ plans }: Flow, planner: Planner | null, why: string): Expected {
  if (planner === null)
    return { kind: 'partial', why: `${why} No tool that takes a plan is offered, so there is no other.` };
  const { maxPlans } = planner.plan;
  if (plans >= maxPlans) return { kind: 'partial', why: `${why} The run has made all of its ${maxPlans} plans.` };
  return { kind: 'plan', planner, why };
}

function whyPlan({ made, ended }: Flow): string {
  return made === null || ended === null
    ? whyNoPlan(made)
    : `The review of the last result wants another plan: ${quoted(ended.why)}`;
}

/** The tool that took the plan, if it is offered still; else the first that takes one. */
function plannerOf({ made }: Flow, { offered }: TurnFacts, evaluator: Evaluator): Planner | null {
  const before = made === null ? undefined : evaluator.tool(made.action);
  const first = offered.map(evaluator.byId).find((tool) => tool?.plan !== undefined);
  const tool = before !== undefined && offered.includes(before.id) ? before : first;
  return tool?.plan === undefined ? null : { ...tool, plan: tool.plan };
}

/** What was measured of an attempt, as a sentence. */
export function measured({ step, score }: Attempt, { number, tool }: Pick<HeldStep, 'number' | 'tool'>): string {
  const call = `Attempt ${score.attempt} at step ${number} (${tool})`;
  if (step.outcome !== 'ok') return `${call} failed with ${step.outcome}: ${quoted(step.observation)}`;
  const inputs = Object.entries(score.inputs).map(([name, value]) => `${name} ${value}`);
  const judged = score.judged === null ? '' : `, judged ${score.judged}`;
  return `${call} has the confidence ${score.confidence} and needs ${score.threshold} (${score.kind}: ${inputs.join(', ')}${judged}).`;
}
