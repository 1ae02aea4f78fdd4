import { defaultConfidence } from '@sluice/core';
import type { ConfidenceSettings, ConfiguredTool, Evaluator, RunState, Step } from '@sluice/core';
import type { StepScore } from '@sluice/contracts';
import { planIn } from '../plan.js';
import type { PlannedStep, RunPlan } from '../plan.js';
import { ownSteps } from '../progress.js';
import { reviewIn } from '../review.js';
import type { PlanReview } from '../review.js';
import { roundScore, scoreStep } from './score.js';

/** One call that was made for a step of the plan, and how good its result was. */
export interface Attempt {
  readonly step: Step;
  readonly tool: ConfiguredTool | undefined;
  readonly score: StepScore;
}

/**
 * How far a run is, by its recorded steps alone: the same steps give the same flow, in every service and in a replay.
 */
export interface Flow {
  /** Plans that were made so far, those counted that were refused. */
  readonly plans: number;
  /** How the last plan came out; null where none was made. */
  readonly made: Step | null;
  /** The plan that holds; null where there is none yet, or the last one was refused. */
  readonly plan: RunPlan | null;
  readonly settings: ConfidenceSettings;
  /** Steps of the plan that were accepted. */
  readonly done: number;
  /** Steps of earlier plans that were not done, where no later plan has steps in their place. */
  readonly givenUp: number;
  /** What the steps of the plan that were accepted came to, in order. */
  readonly results: readonly Step[];
  /** The confidence of every step that was accepted, those of earlier plans too. */
  readonly accepted: readonly number[];
  /** Calls that were made for the step whose turn it is, in order. */
  readonly attempts: readonly Attempt[];
  /** Whether the last attempt is good enough by its formula, and the model has still to say so too. */
  readonly isJudging: boolean;
  /** What a review said: that another plan is needed, or that there shall be no more. */
  readonly ended: { readonly as: 'replan' | 'stop'; readonly why: string } | null;
  /** What the last step of the run was measured to be; null where nothing was. */
  readonly scored: StepScore | null;
}

/** A step of the plan with what it is held to. */
export interface HeldStep extends PlannedStep {
  readonly number: number;
  readonly threshold: number;
  readonly attempts: number;
  readonly limitMs: number | null;
}

type Tools = Pick<Evaluator, 'tool'>;

export function flowOf(
  {
    request,
    run,
  }: { readonly request: { readonly history: readonly Step[] }; readonly run: Pick<RunState, 'strategy'> },
  tools: Tools,
): Flow {
  return ownSteps({ request, run }).reduce((flow, step) => after(flow, step, tools), begun);
}

const begun: Flow = {
  ...{ plans: 0, made: null, plan: null, settings: defaultConfidence, done: 0, givenUp: 0, results: [], accepted: [] },
  ...{ attempts: [], isJudging: false, ended: null, scored: null },
};

function after(flow: Flow, step: Step, tools: Tools): Flow {
  const tool = tools.tool(step.action);
  if (tool?.plan === undefined) return attempted(flow, step, tool);
  const review = reviewIn(step.arguments);
  if (review !== null) return reviewed(flow, step, review);
  const plan = step.outcome === 'ok' ? planIn(step.arguments) : null;
  // Steps in place of a judge’s word that were refused, or what was neither: the plan goes on, by the formula’s word.
  if (flow.isJudging && plan === null) return settled(flow);
  const givenUp = plan !== null && plan.steps.length > 0 ? 0 : leftOf(flow);
  return {
    ...{ ...flow, plans: flow.plans + 1, made: step, plan, givenUp },
    ...{ settings: tool.plan.confidence ?? defaultConfidence, done: 0, results: [] },
    ...{ attempts: [], isJudging: false, ended: null, scored: null },
  };
}

/** Steps that were planned and not done. */
function leftOf({ plan, done, givenUp }: Pick<Flow, 'plan' | 'done' | 'givenUp'>): number {
  return givenUp + Math.max(0, (plan?.steps.length ?? 0) - done);
}

function attempted(flow: Flow, step: Step, tool: ConfiguredTool | undefined): Flow {
  // The model was not asked how good the result before is: the formula’s word is enough.
  const before = settled(flow);
  const held = heldStep(before);
  if (held === null) return { ...before, scored: null };
  const { kind, inputs, formula } = scoreStep(step, tool);
  const attempt = before.attempts.length + 1;
  const score: StepScore = {
    ...{ plan: before.plans, step: held.number, attempt, tool: tool?.id ?? step.action, kind, inputs, formula },
    ...{ judged: null, confidence: formula, threshold: held.threshold, accepted: '' },
  };
  const made = { step, tool, score };
  const next = { ...before, attempts: [...before.attempts, made], scored: score };
  if (step.outcome !== 'ok' || formula < held.threshold) return next;
  return flow.settings.judge === 'model' ? { ...next, isJudging: true } : accept(next, made, 'threshold');
}

/** The flow once a result that only waits for the model’s word counts without it. */
export function settled(flow: Flow): Flow {
  const last = flow.attempts.at(-1);
  return flow.isJudging && last !== undefined ? accept(flow, last, 'threshold') : flow;
}

function reviewed(flow: Flow, step: Step, { decision, confidence, why }: PlanReview): Flow {
  const last = flow.attempts.at(-1);
  if (last === undefined) return { ...flow, scored: null };
  if (flow.isJudging) {
    // A review that failed says nothing.
    if (step.outcome !== 'ok' || confidence === null) return settled(flow);
    const judged = roundScore(confidence);
    const score = { ...last.score, judged, confidence: Math.min(last.score.formula, judged) };
    const reviewedOne = { ...last, score };
    const next = { ...flow, attempts: [...flow.attempts.slice(0, -1), reviewedOne], isJudging: false, scored: score };
    return score.confidence >= score.threshold ? accept(next, reviewedOne, 'threshold') : next;
  }
  const best = bestAttempt(flow);
  if (step.outcome !== 'ok' || decision === 'stop' || best === null)
    return {
      ...flow,
      ended: { as: 'stop', why: step.outcome === 'ok' ? why : step.observation },
      scored: best?.score ?? null,
    };
  if (decision === 'accept') return accept(flow, best, 'override');
  return { ...flow, ended: { as: 'replan', why }, scored: best.score };
}

function accept(flow: Flow, { step, score }: Attempt, by: string): Flow {
  return {
    ...{ ...flow, done: flow.done + 1, accepted: [...flow.accepted, score.confidence] },
    results: [...flow.results, step],
    ...{ attempts: [], isJudging: false, scored: { ...score, accepted: by } },
  };
}

/** The attempt with the best result, the first of equals; null where none gave a result. */
export function bestAttempt({ attempts }: Pick<Flow, 'attempts'>): Attempt | null {
  return attempts
    .filter(({ step }) => step.outcome === 'ok')
    .reduce<Attempt | null>(
      (best, one) => (best === null || one.score.confidence > best.score.confidence ? one : best),
      null,
    );
}

/** The step whose turn it is; null where no plan holds, or all of it is done. */
export function heldStep({ plan, done, settings, ended }: Flow): HeldStep | null {
  const step = ended === null ? plan?.steps[done] : undefined;
  if (step === undefined) return null;
  const retries = Math.min(mostRetries, Math.max(0, Math.trunc(step.retries ?? settings.retries)));
  const threshold = roundScore(Math.min(1, Math.max(0, step.confidence ?? settings.threshold)));
  return {
    ...{ ...step, number: done + 1, threshold },
    ...{ attempts: 1 + retries, limitMs: step.timeoutMs ?? settings.timeoutMs },
  };
}

/** Of one step, whatever its plan says. */
const mostRetries = 5;

/**
 * How sure an answer can be by what there is: no surer than the least sure step that it rests on, and less by the
 * share of the plan that is not done. Null where nothing was planned.
 */
export function answerConfidence(flow: Pick<Flow, 'accepted' | 'plan' | 'done' | 'givenUp'>): number | null {
  const { accepted } = flow;
  const planned = accepted.length + leftOf(flow);
  if (planned === 0) return null;
  if (accepted.length === 0) return 0;
  const mean = accepted.reduce((sum, one) => sum + one, 0) / planned;
  return roundScore(Math.min(mean, ...accepted));
}
