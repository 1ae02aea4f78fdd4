import type { IterationVerdicts, StateList } from '@sluice/client';
import type { GraphState } from '../../../graph/layout.js';
import type { RunTimeline } from '../timeline/model.js';
import { inOrder } from '../timeline/plan.js';

/** A call that led the run to another state. */
export interface Move {
  readonly from: string;
  readonly to: string;
  readonly tool: string;
  readonly callId: string;
  readonly iteration: number;
}

export interface Way {
  /** The states in which the run was. */
  readonly visited: ReadonlySet<string>;
  readonly moves: readonly Move[];
  /** Where it is, or ended; null before its first iteration. */
  readonly last: string | null;
}

/** The way of a run through the states. */
export function wayOf(timeline: RunTimeline, verdicts: readonly IterationVerdicts[] | null): Way {
  const visited = new Set<string>();
  const moves: Move[] = [];
  let last: string | null = null;
  const states = new Map(verdicts?.map(({ iteration, state }) => [iteration, state]));
  for (const { number, state: own, calls } of inOrder(timeline)) {
    const state = own ?? states.get(number) ?? null;
    if (state !== null) visited.add((last = state));
    for (const { id, tool, result } of calls) {
      const step = result?.step;
      if (step == null || step.state === step.state_before) continue;
      moves.push({ from: step.state_before, to: step.state, tool, callId: id, iteration: number });
      visited.add((last = step.state));
    }
  }
  return { visited, moves, last };
}

/** The states and where tools lead, with the moves of the run, also where today’s configuration has them no more. */
export function withMoves({ states }: StateList, { visited, moves }: Way): readonly GraphState[] {
  const found = new Map<string, { name: string; tools: readonly string[]; transitions: Record<string, string> }>();
  for (const { name, tools, transitions } of states)
    if (name !== '*') found.set(name, { name, tools, transitions: { ...transitions } });
  const stateOf = (name: string) => {
    const state = found.get(name) ?? { name, tools: [], transitions: {} };
    found.set(name, state);
    return state;
  };
  for (const name of [...visited, ...states.flatMap(({ transitions }) => Object.values(transitions))]) stateOf(name);
  for (const { from, to, tool } of moves) {
    const { transitions } = stateOf(from);
    if (!Object.values(transitions).includes(to)) transitions[tool] = to;
  }
  return [...found.values()];
}
