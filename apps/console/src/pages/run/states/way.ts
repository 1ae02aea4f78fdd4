import type { IterationVerdicts, StateList } from '@sluice/client';
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

interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** The tools that lead from one to the other. */
  readonly tools: readonly string[];
  /** How often the run went this way. */
  readonly taken: number;
}

export interface StateGraphData {
  readonly states: readonly string[];
  readonly edges: readonly GraphEdge[];
}

/** The states and where tools lead, with the way that the run took, also where today’s configuration has it no more. */
export function graphOf({ states }: StateList, { visited, moves }: Way): StateGraphData {
  const names = new Set([...states.map(({ name }) => name).filter((name) => name !== '*'), ...visited]);
  const edges = new Map<string, { from: string; to: string; tools: Set<string>; taken: number }>();
  const edge = (from: string, to: string) => {
    const key = JSON.stringify([from, to]);
    const found = edges.get(key) ?? { from, to, tools: new Set<string>(), taken: 0 };
    edges.set(key, found);
    names.add(to);
    return found;
  };
  for (const { name, transitions } of states)
    for (const [tool, to] of Object.entries(transitions)) {
      if (name === '*' || to === name) continue;
      edge(name, to).tools.add(tool);
    }
  for (const { from, to, tool } of moves) {
    const found = edge(from, to);
    found.taken++;
    if (found.tools.size === 0) found.tools.add(tool);
  }
  return { states: [...names], edges: [...edges.values()].map((each) => ({ ...each, tools: [...each.tools] })) };
}
