import { cut } from '@sluice/core';
import type { Step } from '@sluice/core';

/** Characters of an earlier step’s words in a reason. */
const quotedCharacters = 300;

export function quoted(words: string): string {
  return cut(words, quotedCharacters);
}

/** Why a run without a plan that holds needs one, by how the last one came out; null where none was made. */
export function whyNoPlan(made: Pick<Step, 'outcome' | 'observation'> | null): string {
  if (made === null) return 'The run begins with a plan.';
  // What its tool said of it, that the plan is taken, would say the opposite.
  return made.outcome === 'ok'
    ? 'The plan before has no steps that can be read, so none was made.'
    : `The plan before was refused: ${quoted(made.observation)}`;
}
