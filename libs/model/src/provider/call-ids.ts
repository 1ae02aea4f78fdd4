import type { ModelCall, ModelStep } from '@sluice/core';
import type { WireCall } from '@sluice/wires';
import { derivedCallId } from '../call-ids.js';

const maxLength = 128;

/**
 * A call's id has 1 to 128 characters and is the only one of its run. An id that breaks this is replaced by
 * one derived from the call's place in the run, so that the same turn gets the same ids whenever it is decoded again.
 */
export function withUsableIds(calls: readonly WireCall[], history: readonly ModelStep[]): ModelCall[] {
  const taken = new Set(history.map((step) => step.toolCallId));
  return calls.map((call, index) => {
    const given = call.toolCallId;
    const toolCallId = isUsable(given) && !taken.has(given) ? given : derivedCallId(history.length, index, taken);
    taken.add(toolCallId);
    return { toolCallId, tool: call.name, arguments: call.args };
  });
}

function isUsable(id: string): boolean {
  return id.trim() !== '' && id.length <= maxLength;
}
