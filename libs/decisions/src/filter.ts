import {
  beginRun,
  chooseTools,
  clockSkewMs,
  connectionIdForm,
  mayRequest,
  nextIteration,
  normaliseGroups,
  normaliseState,
  runEnd,
  wildcard,
} from '@sluice/core';
import type { Decision, Evaluator, Facts, Principal, RequestVerdict, RunState } from '@sluice/core';
import { longestId } from '@sluice/contracts';
import type { AgentRequest, AgentResponse, AgentStepResult, Toolset } from '@sluice/contracts';
import { answerResponse, errorResponse } from './run-ends.js';
import { historyProblem } from './history.js';
import { connectionsOf } from './connections.js';
import { toolset } from './toolset.js';

export interface RunIds {
  readonly requestId: string;
  readonly sessionId: string;
}

/** What is wrong with a request, whatever its sender, as a sentence that says what to write; null if nothing is. */
export function requestProblem(
  { requestId, sessionId }: RunIds,
  { question, connections, history }: Pick<AgentRequest, 'question' | 'connections' | 'history'>,
): string | null {
  if (requestId.length > longestId)
    return `request_id has more than ${longestId} characters. Give it 1 to ${longestId}, or leave it out.`;
  if (sessionId.length > longestId)
    return `session_id, or the record’s key where there is none, has more than ${longestId} characters. Give it 1 to ${longestId}.`;
  if (question.trim() === '') return 'The question is empty. Put the user’s question there.';
  const odd = connections?.findIndex((id) => id !== wildcard && !connectionIdForm.test(id)) ?? -1;
  if (odd !== -1)
    return `connections[${odd}] is no id of a connection: write 1 to 64 letters, digits, \`_\` and \`-\`, or \`*\`.`;
  return historyProblem(history);
}

/** The request as it goes on: who asks is in the run from here on, and what the sender wrote of it goes no further. */
export function taken(request: AgentRequest, ids: RunIds): AgentRequest {
  return { ...request, ...ids, userId: null };
}

/** A run at its beginning, and whether its sender may make the request. */
export function beginning(
  request: AgentRequest,
  principal: Principal,
  { configuration }: Evaluator,
  now: number,
): { readonly run: RunState; readonly groups: readonly string[]; readonly permission: RequestVerdict } {
  const groups = normaliseGroups(request.group);
  const run = beginRun(request, groups, normaliseState(request.state), configuration.limits, principal, now);
  return { run, groups, permission: mayRequest(request, groups, principal, configuration.identity) };
}

/** The end of a request that is refused before its first iteration; `run` is null if its sender is unknown. */
export function denial(
  ids: RunIds,
  message: string,
  about: { readonly request: AgentRequest; readonly run: RunState | null },
  configVersion: string,
  now: number,
): AgentResponse {
  return errorResponse(ids, { code: 'authz_denied', message }, { ...about, configVersion }, now);
}

/** What the filter decides for an iteration: the tools, or the run’s end. */
export type Iteration =
  | { readonly kind: 'end'; readonly response: AgentResponse }
  /** The Toolset before the filter signs it. */
  | { readonly kind: 'toolset'; readonly record: Toolset; readonly decision: Decision };

/** What a decision on a run’s next iteration rests on, under a configuration. */
export function factsOf(
  about: { readonly request: AgentRequest; readonly run: RunState },
  evaluator: Evaluator,
): Facts {
  const { group: groups, state, toolIds } = about.request;
  const calls = about.run.toolCalls;
  const connections = connectionsOf(about, evaluator);
  const nested = about.run.parent !== null;
  return { groups, state, toolIds, calls, connections, nested };
}

/** Decides for the run’s next iteration. `now` is in milliseconds since the epoch. */
export function decideIteration(
  ids: RunIds,
  request: AgentRequest,
  run: RunState,
  evaluator: Evaluator,
  now: number,
): Iteration {
  const { limits, model, version: configVersion } = evaluator.configuration;
  if (run.answer !== null) {
    const about = { request, run, configVersion, state: normaliseState(request.state) };
    return { kind: 'end', response: answerResponse(ids, run.answer, about, now) };
  }
  const end = runEnd(run, request.history, limits, now, model.price);
  if (end !== null) return { kind: 'end', response: errorResponse(ids, end, { request, run, configVersion }, now) };
  const decision = evaluator.evaluate(factsOf({ request, run }, evaluator));
  const next = nextIteration(run, decision);
  const chosen = chooseTools(request.toolChoice, next.iteration, decision.offered);
  if (!chosen.ok) {
    const error = { code: 'invalid_request', message: chosen.message } as const;
    return { kind: 'end', response: errorResponse(ids, error, { request, run, configVersion }, now) };
  }
  return { kind: 'toolset', record: toolset(ids, request, next, decision, chosen.choice, now), decision };
}

/** Whether the record, which the log took then, has the form of a turn that comes back since its run’s time is up. */
export function isOverdue({ steps, run, inForceVersion }: AgentStepResult, takenAt: number): boolean {
  return steps.length === 0 && inForceVersion === '' && run.deadline <= takenAt + clockSkewMs;
}

/** A turn that is re-driven or overdue, as the filter gets it back: nothing was done in it, and the filter’s own grant says that it is the filter’s. */
export function returnedTurn(toolset: Toolset): AgentStepResult {
  const { requestId, sessionId, iteration, request, run, configVersion, grant } = toolset;
  return {
    requestId,
    sessionId,
    iteration,
    steps: [],
    next: request,
    run,
    configVersion,
    inForceVersion: '',
    signature: grant,
    recordSignature: null,
  };
}
