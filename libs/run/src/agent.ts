import { sumOfOthers, tokenSum, wellFormed, wellFormedJson } from '@sluice/core';
import type { ModelSettings, ModelTurn, RunEnd, TurnTokens } from '@sluice/core';
import type { AgentResponse, Run, ToolCall, Toolset, TurnModel } from '@sluice/contracts';
import type { Cancelled } from './claims/cancel.js';
import { othersOfTurn } from './other-models.js';
import { withPromptTokens } from './prompt-tokens.js';
import { answerResponse, errorResponse } from './ends/responses.js';

/** What is known of a turn that ends its run. */
type OverdueTurn = Pick<Toolset, 'requestId' | 'sessionId' | 'request' | 'run' | 'configVersion'>;

/**
 * The run’s end where its time was up, and a record of the turn had been quarantined in place of the one that would
 * have gone on.
 */
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

/** The run’s end where its caller cancelled it. */
export function cancelledTurn(turn: OverdueTurn, run: Run, { message }: Cancelled, now: number): AgentResponse {
  const { requestId, sessionId, request, configVersion } = turn;
  const error = { code: 'cancelled', message } as const;
  return errorResponse({ requestId, sessionId }, error, { request, run, configVersion }, now);
}

/** The run’s end where a budget with a span had no room for its next model call. */
export function spanBudgetUsed(
  turn: OverdueTurn,
  { end, budgets }: { readonly end: RunEnd; readonly budgets: AgentResponse['budgets'] },
  now: number,
): AgentResponse {
  const { requestId, sessionId, request, run, configVersion } = turn;
  return { ...errorResponse({ requestId, sessionId }, end, { request, run, configVersion }, now), budgets };
}

/** The run’s end where no answer of the model fits the schema that it has to. */
export function answerInvalid(turn: OverdueTurn, run: Run, message: string, now: number): AgentResponse {
  const { requestId, sessionId, request, configVersion } = turn;
  const error = { code: 'answer_invalid', message } as const;
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

/** The run after a turn of one of its models, which it asks in this order. */
export function withTokens(
  run: Run,
  turn: TurnTokens & { readonly model: TurnModel | null },
  models: readonly [ModelSettings, ...ModelSettings[]],
): Run {
  const otherModels = sumOfOthers(run.otherModels, othersOfTurn(turn, turn.model?.name ?? null, models));
  return { ...run, ...tokenSum(run, turn), otherModels, ...withPromptTokens(run, turn.model) };
}

/** The run’s end with the model’s answer. */
export function answer(
  toolset: Toolset,
  run: Run,
  {
    answer: text,
    model,
    decision = null,
    incomplete = null,
    structured = null,
  }: Pick<AgentResponse, 'model'> & { readonly answer: string } & Partial<
      Pick<AgentResponse, 'decision' | 'incomplete' | 'structured'>
    >,
  endedAt: number,
): AgentResponse {
  const { request, configVersion, state } = toolset;
  const about = { request, run, configVersion, state, model, decision, incomplete, structured };
  return answerResponse(toolset, text, about, endedAt);
}

/** The calls that the model makes in its turn, as the record has them. */
export function toolCall(
  toolset: Toolset,
  run: Run,
  turn: Pick<ToolCall, 'thought' | 'calls' | 'omittedCalls' | 'model' | 'decision'>,
): ToolCall {
  const { requestId, sessionId, iteration, request, groups, configVersion, tools, list, grant, toolChoice } = toolset;
  return {
    requestId,
    sessionId,
    iteration,
    thought: turn.thought,
    calls: turn.calls,
    request,
    run,
    groups,
    offered: list === null ? tools.map((tool) => tool.id) : [],
    list,
    configVersion,
    grant,
    toolChoice,
    omittedCalls: turn.omittedCalls,
    recordSignature: null,
    model: turn.model,
    decision: turn.decision,
    call: null,
  };
}
