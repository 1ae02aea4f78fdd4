import type { IterationItem, RunTimeline } from './model.js';

/** How far a step of a plan is. */
type StepStatus = 'open' | 'running' | 'done' | 'failed';

interface PlanStep {
  readonly tool: string;
  readonly status: StepStatus;
}

export interface Plan {
  /** From 1. */
  readonly number: number;
  readonly steps: readonly PlanStep[];
}

/** The plans that the run made, by the iteration that made them, each step with how far it is. */
export function plansOf(timeline: RunTimeline): ReadonlyMap<number, Plan> {
  const plans = new Map<number, { readonly number: number; readonly steps: PlanStep[] }>();
  const byNumber = new Map<number, PlanStep[]>();
  for (const iteration of inOrder(timeline)) {
    const { decision } = iteration;
    if (decision === null) continue;
    if (decision['action'] === 'plan') {
      const steps = stepsOf(iteration);
      if (steps === null) continue;
      const number = byNumber.size + 1;
      plans.set(iteration.number, { number, steps });
      byNumber.set(number, steps);
      continue;
    }
    const steps = byNumber.get(Number(decision['plan']));
    const place = Number(decision['step']) - 1;
    const step = steps?.[place];
    if (steps === undefined || step === undefined) continue;
    steps[place] = { ...step, status: statusOf(iteration) };
  }
  return plans;
}

export const inOrder = (timeline: RunTimeline): readonly IterationItem[] =>
  [...timeline.iterations.values()].sort((one, other) => one.number - other.number);

function statusOf({ calls }: IterationItem): StepStatus {
  const results = calls.map(({ result }) => result);
  if (results.some((result) => result?.is_error === true)) return 'failed';
  return results.length > 0 && results.every((result) => result !== null) ? 'done' : 'running';
}

/** The steps that a call gives as its argument `steps`; null where there is none that was taken. */
function stepsOf({ calls }: IterationItem): PlanStep[] | null {
  for (const { arguments: text, result } of calls) {
    if (result?.is_error === true) continue;
    const steps = parsed(text)?.['steps'];
    if (!Array.isArray(steps)) continue;
    return steps.map((step: unknown) => {
      const tool = (step as { readonly tool?: unknown } | null)?.tool;
      return { tool: typeof tool === 'string' ? tool : 'a step', status: 'open' };
    });
  }
  return null;
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}
