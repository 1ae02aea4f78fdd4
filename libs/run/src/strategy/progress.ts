import type { ConfiguredTool, Evaluator, RunState, Step } from '@sluice/core';
import { planIn } from './plan.js';
import type { PlannedStep, RunPlan } from './plan.js';
import { filled } from './references.js';

/** How far a run is with its plan, by its recorded steps alone. */
export interface PlanProgress {
  /** Plans that were made so far, those counted that were refused. */
  readonly plans: number;
  /** The plan that holds; null where there is none yet, or the last one was refused. */
  readonly plan: RunPlan | null;
  /** Steps of it that succeeded. */
  readonly done: number;
  /** How the last plan came out; null where none was made. */
  readonly made: Step | null;
  /** The step that failed, so that another plan is needed; null while none has. */
  readonly failed: Step | null;
  /** The step whose turn it is; null where there is none. */
  readonly next: NextStep | null;
}

/** A step whose turn it is. */
export interface NextStep extends PlannedStep {
  readonly number: number;
  /** With the results that they name in their places; null where the model is asked for them. */
  readonly arguments: string | null;
  /** Why the model is asked for them, as a clause; null where it is not. */
  readonly open: string | null;
}

/** The step as it is called, by the results of those before it. */
export function nextStep<Planned extends PlannedStep & { readonly number: number }>(
  step: Planned,
  results: readonly Step[],
  { tool, configuration }: Pick<Evaluator, 'tool' | 'configuration'>,
): Planned & NextStep {
  const schema = tool(step.tool)?.spec?.inputSchema ?? null;
  if (step.arguments === null) return { ...step, open: 'was planned without arguments' };
  const whole = filled(step.arguments, results, schema, configuration.limits.argumentBytes);
  return 'missing' in whole
    ? { ...step, arguments: null, open: `needs other arguments than were planned: ${whole.missing}` }
    : { ...step, ...whole, open: null };
}

/** A run as far as its plan goes by it. */
interface PlannedRun {
  readonly request: { readonly history: readonly Step[] };
  readonly run: Pick<RunState, 'strategy'>;
}

/**
 * The run’s plan, from the steps of its own. A turn makes one step of a plan, which is the first call of the turn;
 * whatever else is called is refused (`not_planned`), and counts for nothing here: the same step comes again.
 */
export function planProgress(
  { request, run }: PlannedRun,
  evaluator: Pick<Evaluator, 'tool' | 'configuration'>,
): PlanProgress {
  const own = ownSteps({ request, run });
  const made = own.filter((step) => takesPlans(step, evaluator));
  const last = made.at(-1);
  const plan = last?.outcome === 'ok' ? planIn(last.arguments) : null;
  if (last === undefined || plan === null)
    return { plans: made.length, made: last ?? null, plan: null, done: 0, failed: null, next: null };
  const since = own.slice(own.lastIndexOf(last) + 1);
  const failed = since.find(({ outcome }) => outcome !== 'ok') ?? null;
  const results = since.filter(({ outcome }) => outcome === 'ok');
  const done = results.length;
  const step = failed === null ? plan.steps[done] : undefined;
  const next = step === undefined ? null : nextStep({ ...step, number: done + 1 }, results, evaluator);
  return { plans: made.length, made: last, plan, done, failed, next };
}

/**
 * The steps that a strategy goes by: those of the run itself, the first call of each turn, but for what was not the
 * plan’s.
 */
export function ownSteps({ request, run }: PlannedRun): readonly Step[] {
  return request.history
    .slice(run.strategy?.brought ?? 0)
    .filter(({ index, reason }) => index === 0 && reason !== 'not_planned');
}

function takesPlans({ action }: Step, { tool }: Pick<Evaluator, 'tool'>): boolean {
  return tool(action)?.plan !== undefined;
}

/** The tool that takes the plans of a run, of those that it is offered. */
export function plannerAmong(
  offered: readonly { readonly id: string }[],
  { byId }: Pick<Evaluator, 'byId'>,
): (ConfiguredTool & { readonly plan: NonNullable<ConfiguredTool['plan']> }) | null {
  for (const { id } of offered) {
    const tool = byId(id);
    if (tool?.plan !== undefined) return { ...tool, plan: tool.plan };
  }
  return null;
}

/** Whether another plan is needed: there is none, or a step of it failed. */
export function needsPlan({ plan, failed }: PlanProgress): boolean {
  return plan === null || failed !== null;
}
