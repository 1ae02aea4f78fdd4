import type { AgentStep } from '@sluice/contracts';
import { longestName } from './calls.js';

/**
 * What is wrong with the steps that a sender brings along, as a sentence; null if nothing is. A step is a call and its one result, so a
 * result without a call is a step without an action, and a second result of a call a step with its id. An id may be left out.
 */
export function historyProblem(history: readonly Pick<AgentStep, 'action' | 'toolCallId'>[]): string | null {
  const seen = new Map<string, number>();
  for (const [place, { action, toolCallId }] of history.entries()) {
    if (action.trim() === '')
      return `history[${place}].action is empty: a result needs the call that it came of. Put the tool’s key there.`;
    if (toolCallId.length > longestName)
      return `history[${place}].tool_call_id has ${toolCallId.length} characters. Give it 1 to ${longestName}, or leave it out.`;
    const first = seen.get(toolCallId);
    if (first !== undefined)
      return `history[${place}].tool_call_id is that of history[${first}] as well. Give each call an id of its own, or leave it out.`;
    if (toolCallId !== '') seen.set(toolCallId, place);
  }
  return null;
}
