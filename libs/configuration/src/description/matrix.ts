import { compileEvaluator, noCalls } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { groupNamesOf, stateNamesOf } from './describe.js';

/** Names of tools in all cells together, at most. */
const mostNames = 200_000;
/** Cells that are looked at, at most. */
const mostCells = 20_000;

/** Which tools a run in each state with each group would be offered, before rules that ask for more than that. */
export interface GroupStateMatrix {
  readonly groups: readonly string[];
  readonly states: readonly string[];
  /** Cells that offer a tool; others are left out. */
  readonly cells: readonly MatrixCell[];
  /** Cells that were not looked at, to keep the answer small. */
  readonly left_out: number;
}

interface MatrixCell {
  readonly group: string;
  readonly state: string;
  /** Keys of the tools that are offered, with every connection and at the beginning of a run. */
  readonly tools: readonly string[];
}

export function groupStateMatrix(configuration: Configuration): GroupStateMatrix {
  // One of its own: the decisions that services remember stay theirs.
  const evaluator = compileEvaluator(configuration);
  const groups = groupNamesOf(configuration);
  const states = stateNamesOf(configuration.tools);
  const connections = (configuration.connections ?? []).map(({ id }) => id);
  const cells: MatrixCell[] = [];
  let names = 0;
  let looked = 0;
  for (const group of groups)
    for (const state of states) {
      if (names >= mostNames || looked >= mostCells) break;
      looked++;
      const facts = { groups: [group], state, toolIds: null, calls: noCalls, connections };
      const { offered } = evaluator.evaluate(facts);
      if (offered.length === 0) continue;
      cells.push({ group, state, tools: offered.map(({ key }) => key) });
      names += offered.length;
    }
  return { groups, states, cells, left_out: groups.length * states.length - looked };
}
