import { countCall, normaliseState, transition } from '@sluice/core';
import type { ConfiguredTool, Decision, Evaluator, RunState, Verdict } from '@sluice/core';
import type { AgentRequest } from '@sluice/contracts';
import { decideTools } from '../decide-tools.js';
import { joinedTools } from '../joined-tools.js';
import { argumentsProblem } from './planned-arguments.js';
import type { PlannedStep, RunPlan } from './plan.js';

/** Tools that a message names, at most. */
const namedTools = 20;

/** A run as the filter decides on it: request and run, at a time in milliseconds since the epoch. */
interface RunAt {
  readonly request: AgentRequest;
  readonly run: RunState;
  readonly at: number;
}

/** Most steps of a plan, and the turns that its run has left behind the plan’s own. */
interface PlanBounds {
  readonly maxSteps: number;
  readonly turnsLeft: number;
  /** Turns that a step takes; absent for one. */
  readonly turnsPerStep?: number;
}

/**
 * Goes through a plan without running anything: each step’s tool must be offered in the state that the steps before
 * it lead to, as the filter will decide then, under each of the configurations. Says of the first step that cannot be
 * why not.
 */
export function walkPlan({ steps }: RunPlan, from: RunAt, bounds: PlanBounds, judges: readonly Evaluator[]): Verdict {
  const { turnsLeft, maxSteps, turnsPerStep = 1 } = bounds;
  if (steps.length > maxSteps) return refused(`The plan has ${steps.length} steps and may have ${maxSteps}.`);
  // The answer takes one turn more.
  if (steps.length > 0 && steps.length * turnsPerStep >= turnsLeft) {
    const each = turnsPerStep === 1 ? '' : ` of ${turnsPerStep} turns each`;
    return refused(
      `The plan has ${steps.length} steps${each}, and the run has ${turnsLeft} turns left, the answer’s included.`,
    );
  }
  let now = from;
  for (const [index, step] of steps.entries()) {
    const walked = walkStep(steps, index, now, judges);
    if (typeof walked === 'string') return refused(`Step ${index + 1} (${step.tool}) cannot be made: ${walked}`);
    now = walked;
  }
  return { ok: true };
}

function walkStep(
  steps: readonly PlannedStep[],
  index: number,
  now: RunAt,
  judges: readonly Evaluator[],
): RunAt | string {
  const step = steps[index] as PlannedStep;
  const later = step.after.find((number) => !Number.isInteger(number) || number < 1 || number > index);
  if (later !== undefined) return `it needs step ${later}, which is none before it.`;
  const tool = judges[0]?.tool(step.tool);
  const [granted, ...others] = judges.map((judge) => decideTools(now, judge, now.at).decision) as [
    Decision,
    ...Decision[],
  ];
  if (tool === undefined) return `there is no tool of that name. ${inState(granted)}`;
  if (tool.plan !== undefined) return 'a plan holds no other plan.';
  for (const { offered, hidden } of [granted, ...others]) {
    if (offered.some(({ id }) => id === tool.id)) continue;
    const reasons = hidden.find(({ key }) => key === tool.key)?.reasons ?? [];
    return `it is not available there (${reasons.join(', ') || 'not offered'}). ${inState(granted)}`;
  }
  const problem = argumentsProblem(steps, index, tool, judges[0]);
  if (problem !== null) return problem;
  const state = transition(tool, granted.state);
  if (step.state !== null && step.state !== state)
    return `it leads to the state ${state}, and the plan says ${step.state}.`;
  return behind(now, tool.id, state);
}

/** The run once a call of the tool has succeeded. */
function behind({ request, run, at }: RunAt, toolId: string, state: string): RunAt {
  const { conditions } = run;
  const succeeded = conditions?.succeeded ?? {};
  const before = Object.hasOwn(succeeded, toolId) ? (succeeded[toolId] ?? 0) : 0;
  const after = conditions === null ? null : { ...conditions, succeeded: { ...succeeded, [toolId]: before + 1 } };
  const toolCalls = countCall(run.toolCalls, toolId, { outcome: 'ok', reason: null });
  return { request: { ...request, state }, run: { ...run, toolCalls, conditions: after }, at };
}

function inState({ state, offered }: Decision): string {
  const ids = offered.filter(({ plan }) => plan === undefined).map(({ id }) => id);
  return ids.length === 0
    ? `In the state ${state} no tool is available.`
    : `In the state ${state} available are: ${ids.slice(0, namedTools).join(', ')}.`;
}

export function refused(
  message: string,
  again = 'Nothing of the plan ran. Make another plan, or one of fewer steps.',
): Verdict {
  return { ok: false, code: 'validation', reason: 'plan_refused', message: `${message} ${again}` };
}

/** States that are looked at for tools that a plan may use, at most. */
const mostStates = 64;

/**
 * The tools that steps of a plan may use: those offered now, and those of every state that these lead to. In
 * configuration order.
 */
export function toolsWithinReach({ request, run, at }: RunAt, evaluator: Evaluator): readonly ConfiguredTool[] {
  const states = new Set([normaliseState(request.state)]);
  const found = new Set<string>();
  for (const state of states) {
    for (const tool of decideTools({ request: { ...request, state }, run }, evaluator, at).decision.offered) {
      if (tool.plan !== undefined) continue;
      found.add(tool.id);
      if (states.size < mostStates) states.add(transition(tool, state));
    }
  }
  const within = evaluator.configuration.tools.filter(({ id }) => found.has(id));
  return joinedTools(within, { request, run }, evaluator);
}
