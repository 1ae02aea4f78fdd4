import type { ModelPrice } from '../settings/model-types.js';
import type { Run as RunState } from '@sluice/records';
import type { Principal } from '../identity/principal.js';
import { utf8Length } from '../json.js';
import { noCalls } from '../rules/call-counts.js';
import { memoryBytes } from './memory.js';
import { type RunBudget, type RunEnd, budgetEnd, runBudgetEnd } from './agent-run.js';
import type { Step } from './step.js';

export type { RunState };
export type { RunConditions, StateTransition as Transition } from '@sluice/records';

export interface RunLimits {
  readonly maxIterations: number;
  readonly runMs: number;
  readonly historyBytes: number;
}

/** How long a run may wait for people in all, where `limits.parked_seconds` does not say. */
export const defaultParkedMs = 86_400_000;

/** A new run, before its first iteration. A request may ask for fewer iterations and an earlier end, never for more. */
export function beginRun(
  request: { readonly maxIterations: number | null; readonly deadline: number | null },
  groups: readonly string[],
  state: string,
  limits: RunLimits,
  principal: Principal,
  now: number,
): RunState {
  return {
    iteration: 0,
    maxIterations: Math.min(request.maxIterations ?? limits.maxIterations, limits.maxIterations),
    startedAt: now,
    deadline: Math.min(request.deadline ?? Infinity, now + limits.runMs),
    initialState: state,
    stateEnteredAt: now,
    stateTransitions: [],
    requestedGroups: groups,
    availableTools: [],
    filteredByGroup: [],
    filteredByState: [],
    firstTools: null,
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    definitionTokens: null,
    resultTokens: null,
    otherTokens: null,
    otherModels: null,
    toolCalls: noCalls,
    principal,
    redrive: null,
    answer: null,
    parent: null,
    conditions: null,
    strategy: null,
    memory: null,
    parkedMs: null,
  };
}

/**
 * The run as it goes on once its turn has waited for people: with the time that it had left, but no longer than
 * `wantedBy`. `parkedMs` counts all that the run waited so far.
 */
export function afterWait(run: RunState, parkedMs: number, wantedBy: number | null): RunState {
  const waitedMs = parkedMs - (run.parkedMs ?? 0);
  if (waitedMs <= 0) return run;
  return { ...run, deadline: Math.min(run.deadline + waitedMs, wantedBy ?? Infinity), parkedMs };
}

/**
 * The run as another attempt of it begins: with the time that a new run would have from `now` on, and what was done
 * so far. How long it lay among the dead letters is no time it spent in its state.
 */
export function anotherAttempt(
  run: RunState,
  redrive: string,
  asked: { readonly deadline: number | null },
  { runMs }: Pick<RunLimits, 'runMs'>,
  now: number,
): RunState {
  const deadline = Math.min(asked.deadline ?? Infinity, now + runMs);
  return { ...run, startedAt: now, stateEnteredAt: now, deadline, redrive };
}

/**
 * Why the run may not begin another iteration, or null if it may. `price` is what its tokens cost; undefined if
 * unknown.
 */
export function runEnd(
  run: RunState,
  history: readonly Step[],
  limits: RunLimits,
  now: number,
  price?: ModelPrice,
  budget: RunBudget = {},
): RunEnd | null {
  if (now >= run.deadline) {
    return {
      code: 'deadline_exceeded',
      message: `The run had to end by ${new Date(run.deadline).toISOString()} and has no answer yet.`,
    };
  }
  if (run.iteration >= run.maxIterations) {
    return {
      code: 'max_iterations',
      message: `The run used all of its ${run.maxIterations} iterations without an answer.`,
    };
  }
  const spent = budgetEnd(run, price) ?? runBudgetEnd(run, price, historyBytes(history) + memoryBytes(run), budget);
  if (spent !== null) return spent;
  // What travels with an agent’s run of the turn that waits for it takes the same room.
  const bytes = historyBytes(history) + (run.parent === null ? 0 : historyBytes(run.parent.steps));
  if (bytes > limits.historyBytes) {
    return {
      code: 'size_exceeded',
      message: `The history has ${bytes} bytes and the limit is ${limits.historyBytes}.`,
    };
  }
  return null;
}

/** The next iteration; the first one's lists are kept for the request's log line. */
export function nextIteration(
  run: RunState,
  decision: Pick<RunState, 'filteredByGroup' | 'filteredByState'> & { readonly eligible: readonly string[] },
): RunState {
  const iteration = run.iteration + 1;
  if (iteration > 1) return { ...run, iteration };
  const { eligible, filteredByGroup, filteredByState } = decision;
  return { ...run, iteration, availableTools: eligible, filteredByGroup, filteredByState };
}

/** The run after a turn's steps: a transition is kept only where the state changed. */
export function afterSteps(run: RunState, steps: readonly Step[]): RunState {
  const transitions = steps
    .filter((step) => step.state !== step.stateBefore)
    .map((step) => ({ tool: step.action, from: step.stateBefore, to: step.state, timestamp: step.endedAt }));
  const last = transitions.at(-1);
  if (last === undefined) return run;
  return { ...run, stateTransitions: [...run.stateTransitions, ...transitions], stateEnteredAt: last.timestamp };
}

/** How long each state was held that the steps left, in milliseconds. */
export function dwellTimes(
  run: RunState,
  steps: readonly Step[],
): readonly { readonly state: string; readonly milliseconds: number }[] {
  let since = run.stateEnteredAt;
  const left: { state: string; milliseconds: number }[] = [];
  for (const step of steps) {
    if (step.state === step.stateBefore) continue;
    left.push({ state: step.stateBefore, milliseconds: Math.max(0, step.endedAt - since) });
    since = step.endedAt;
  }
  return left;
}

/** About how many bytes of UTF-8 a history takes on the wire: its texts, which are nearly all of it. */
export function historyBytes(history: readonly Step[]): number {
  let bytes = 0;
  for (const step of history) {
    bytes += 64 + utf8Length(step.thought) + utf8Length(step.action);
    bytes += utf8Length(step.arguments) + utf8Length(step.observation) + utf8Length(step.providerData ?? '');
    bytes += utf8Length(step.edited?.arguments ?? '');
  }
  return bytes;
}
