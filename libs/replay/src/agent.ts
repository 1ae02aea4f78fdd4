import { placeOf } from '@sluice/contracts';
import type { AgentResponse, ToolCall, Toolset } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { answer, endOfDead, outOfTime, outOfTimeQuarantined, toolCall } from '@sluice/decisions';
import type { Run } from '@sluice/contracts';
import type { DeadLetters, RunRecords } from './run-records.js';

/** The record of a turn, from what the model is recorded to have said; the model is not asked again. */
export function deriveTurn({ record }: Incoming<'agent.tool-calls'>, run: RunRecords): readonly ToolCall[] {
  const { recordSignature } = record;
  return toolsetsOf(run, record.iteration).map((toolset) => {
    return { ...toolCall(toolset, afterTurn(toolset, record.run), record), recordSignature };
  });
}

/** The end of a run with the model’s answer, or with none in time. */
export function deriveAgentEnd({ record }: Incoming<'agent.responses'>, run: RunRecords): readonly AgentResponse[] {
  const { run: ended, endedAt } = record;
  if (ended === null) return [];
  const toolsets = toolsetsOf(run, ended.iteration);
  if (record.answer !== null)
    return toolsets.map((toolset) => answer(toolset, afterTurn(toolset, ended), record.answer ?? '', endedAt));
  // What was quarantined the ledger knew, and the record says.
  const end = record.error?.code === 'record_quarantined' ? outOfTimeQuarantined : outOfTime;
  return toolsets.filter((toolset) => endedAt >= toolset.run.deadline).map((toolset) => end(toolset, endedAt));
}

/** The end of a run whose record became a dead letter. Of a request’s tenant its credential spoke, and credentials are not kept. */
export function deriveDeadEnd(
  { record }: Incoming<'agent.responses'>,
  run: RunRecords,
  dead: DeadLetters,
): readonly AgentResponse[] {
  if (dead.size === 0) return [];
  const messages = [...run.requests, ...run.toolsets, ...run.calls, ...run.steps, ...run.approvals, ...run.returns];
  const own = messages.flatMap((message) => {
    const letter = dead.get(placeOf(message));
    return letter === undefined ? [] : [{ ...message, ...letter, message }];
  });
  const known = new Set(own.map(placeOf));
  // What could not be decoded is no message; which run it was of stands in its bytes or its key.
  const undecoded = [...dead.values()]
    .filter((letter) => letter.code === 'undecodable' && letter.key === record.sessionId && !known.has(placeOf(letter)))
    .map((letter) => ({ ...letter, message: null }));
  return [...own, ...undecoded].flatMap((one) => {
    const end = endOfDead(one as Parameters<typeof endOfDead>[0], record.tenantId, record.endedAt);
    return end === null ? [] : [end.response];
  });
}

function toolsetsOf({ toolsets }: RunRecords, iteration: number): readonly Toolset[] {
  return toolsets.filter(({ record }) => record.iteration === iteration).map(({ record }) => record);
}

/** The tokens that a turn used are the model’s word; all else of the run is the Toolset’s. */
function afterTurn({ run }: Toolset, { inputTokens, outputTokens }: Run): Run {
  return { ...run, inputTokens, outputTokens };
}
