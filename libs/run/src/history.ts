import type { AgentStep } from '@sluice/contracts';
import { isJsonText, utf8Length } from '@sluice/core';
import type { Limits } from '@sluice/core';
import { longestName } from './calls.js';

type Brought = Pick<AgentStep, 'action' | 'toolCallId' | 'arguments' | 'outcome' | 'observation'> &
  Partial<Pick<AgentStep, 'edited'>>;

/** How large the parts of a step may be, by the configuration. */
export type StepBounds = Pick<Limits, 'argumentBytes' | 'resultBytes'>;

/**
 * What is wrong with the steps that a sender brings along, as a sentence; null if nothing is. A step is a call and
 * its one result, so a result without a call is a step without an action, and a second result of a call a step with
 * its id. An id may be left out. Without bounds, as for what an earlier version took, sizes and forms are not looked
 * at.
 */
export function historyProblem(history: readonly Brought[], bounds: StepBounds | null = null): string | null {
  const seen = new Map<string, number>();
  for (const [place, step] of history.entries()) {
    const { action, toolCallId } = step;
    if (action.trim() === '')
      return `history[${place}].action is empty: a result needs the call that it came of. Put the tool’s key there.`;
    if (toolCallId.length > longestName)
      return `history[${place}].tool_call_id has ${toolCallId.length} characters. Give it 1 to ${longestName}, or leave it out.`;
    const first = seen.get(toolCallId);
    if (first !== undefined)
      return `history[${place}].tool_call_id is that of history[${first}] as well. Give each call an id of its own, or leave it out.`;
    if (toolCallId !== '') seen.set(toolCallId, place);
    const problem = bounds === null ? null : partsProblem(step, bounds);
    if (problem !== null) return `history[${place}].${problem}`;
  }
  return null;
}

function partsProblem({ arguments: args, outcome, observation, edited }: Brought, bounds: StepBounds): string | null {
  const argumentBytes = utf8Length(args);
  if (argumentBytes > bounds.argumentBytes)
    return `arguments has ${argumentBytes} bytes and the limit is ${bounds.argumentBytes}. Shorten it, or leave it out.`;
  const editedBytes = utf8Length(edited?.arguments ?? '');
  if (editedBytes > bounds.argumentBytes)
    return `edited.arguments has ${editedBytes} bytes and the limit is ${bounds.argumentBytes}. Shorten it, or leave edited out.`;
  const resultBytes = utf8Length(observation);
  if (resultBytes > bounds.resultBytes)
    return `observation has ${resultBytes} bytes and the limit is ${bounds.resultBytes}. Shorten it.`;
  if (args === '' || mayBeBroken(outcome, args) || isJsonText(args)) return null;
  return 'arguments is no JSON. Write the arguments of the call as the text of a JSON object, or leave it out.';
}

/** A refused call may have what its model wrote, and one too large what stands in its place (`boundedTurn`). */
function mayBeBroken(outcome: string, args: string): boolean {
  return outcome === 'invalid_json' || outcome === 'validation' || /^\[\d+ bytes left out\]$/.test(args);
}
