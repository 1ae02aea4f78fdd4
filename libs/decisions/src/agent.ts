import { wellFormed, wellFormedJson } from '@sluice/core';
import type { ModelTurn } from '@sluice/core';
import type { AgentResponse, Run, ToolCall, Toolset } from '@sluice/contracts';
import { answerResponse, errorResponse } from './run-ends.js';

/** What is known of a turn whose time is up. */
type OverdueTurn = Pick<Toolset, 'requestId' | 'sessionId' | 'request' | 'run' | 'configVersion'>;

/** The run’s end where its time was up, and a record of the turn had been quarantined in place of the one that would have gone on. */
export function outOfTimeQuarantined(turn: OverdueTurn, now: number): AgentResponse {
  const { requestId, sessionId, request, run, configVersion } = turn;
  const message = `A record of turn ${run.iteration} was quarantined since it is not as a service signed it, and no other came until the run had to end, at ${new Date(run.deadline).toISOString()}.`;
  const error = { code: 'record_quarantined', message } as const;
  return errorResponse({ requestId, sessionId }, error, { request, run, configVersion }, now);
}

/** The run’s end where its time was up before there was an answer. */
export function outOfTime(turn: OverdueTurn, now: number): AgentResponse {
  const { requestId, sessionId, request, run, configVersion } = turn;
  const message = `The run had to end by ${new Date(run.deadline).toISOString()} and has no answer yet.`;
  const error = { code: 'deadline_exceeded', message } as const;
  return errorResponse({ requestId, sessionId }, error, { request, run, configVersion }, now);
}

/** What the model wrote as records carry it: well-formed, the arguments’ JSON as well. */
export function asWritten(turn: ModelTurn): ModelTurn {
  const { thought, calls, answer } = turn;
  return {
    ...turn,
    thought: thought.toWellFormed(),
    answer: answer === null ? null : answer.toWellFormed(),
    calls: calls.map((call) => ({ ...wellFormed(call), arguments: wellFormedJson(call.arguments) })),
  };
}

/** The run after a turn of the model. */
export function withTokens(run: Run, turn: Pick<ModelTurn, 'inputTokens' | 'outputTokens'>): Run {
  const { inputTokens, outputTokens } = turn;
  return { ...run, inputTokens: run.inputTokens + inputTokens, outputTokens: run.outputTokens + outputTokens };
}

/** The run’s end with the model’s answer. */
export function answer(toolset: Toolset, run: Run, text: string, endedAt: number): AgentResponse {
  const { request, configVersion, state } = toolset;
  return answerResponse(toolset, text, { request, run, configVersion, state }, endedAt);
}

/** The calls that the model makes in its turn, as the record has them. */
export function toolCall(
  toolset: Toolset,
  run: Run,
  turn: Pick<ToolCall, 'thought' | 'calls' | 'omittedCalls'>,
): ToolCall {
  const { requestId, sessionId, iteration, request, groups, configVersion, tools, grant, toolChoice } = toolset;
  return {
    requestId,
    sessionId,
    iteration,
    thought: turn.thought,
    calls: turn.calls,
    request,
    run,
    groups,
    offered: tools.map((tool) => tool.id),
    configVersion,
    grant,
    toolChoice,
    omittedCalls: turn.omittedCalls,
    recordSignature: null,
  };
}
