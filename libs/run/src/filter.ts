import {
  beginRun,
  chooseTools,
  clockSkewMs,
  connectionIdForm,
  agentName,
  groupsForAgent,
  hasAgent,
  longestAgent,
  mayRequest,
  nextIteration,
  normaliseGroups,
  normaliseState,
  quote,
  runEnd,
  samplingProblem,
  wildcard,
} from '@sluice/core';
import type { Configuration, Decision, Evaluator, Principal, RequestVerdict, RunState, Tenant } from '@sluice/core';
import { longestId } from '@sluice/contracts';
import type { AgentRequest, AgentResponse, AgentStepResult, Toolset } from '@sluice/contracts';
import { answerResponse, errorResponse, withoutProviderData } from './ends/responses.js';
import type { Cancelled } from './claims/cancel.js';
import { modelsOfRun } from './agent-runs.js';
import { historyProblem } from './history.js';
import type { StepBounds } from './history.js';
import { decideTools } from './decide-tools.js';
import { answerSchemaOf, requestedSchemaProblem } from './answer-schema.js';
import { conversationProblem } from './conversation.js';
import { questionContentProblem } from './uploads/names.js';
import { cannotBegin, strategyFor, strategyRefused } from './strategy/choose.js';
import { routed } from './strategy/route.js';
import { turnBudgetEnd } from './prompt-bytes.js';
import { toolset } from './toolset.js';

export interface RunIds {
  readonly requestId: string;
  readonly sessionId: string;
}

type RequestParts = Pick<AgentRequest, 'question' | 'connections' | 'history' | 'call' | 'content' | 'conversation'> &
  Partial<Pick<AgentRequest, 'agent' | 'answerSchema' | 'sampling'>>;

/** What is wrong with a request, whatever its sender, as a sentence that says what to write; null if nothing is. */
export function requestProblem(
  { requestId, sessionId }: RunIds,
  { question, connections, history, call, content, conversation, agent, answerSchema, sampling }: RequestParts,
  bounds: StepBounds | null = null,
): string | null {
  if (requestId.length > longestId)
    return `request_id has more than ${longestId} characters. Give it 1 to ${longestId}, or leave it out.`;
  if (sessionId.length > longestId)
    return `session_id, or the record’s key where there is none, has more than ${longestId} characters. Give it 1 to ${longestId}.`;
  if (question.trim() === '') return 'The question is empty. Put the user’s question there.';
  if ((agent?.length ?? 0) > longestAgent)
    return `agent has more than ${longestAgent} characters, which no agent’s name has. Name one of the configuration’s, or leave it out.`;
  const odd = connections?.findIndex((id) => id !== wildcard && !connectionIdForm.test(id)) ?? -1;
  if (odd !== -1)
    return `connections[${odd}] is no id of a connection: write 1 to 64 letters, digits, \`_\` and \`-\`, or \`*\`.`;
  if (!['', 'none'].includes(call?.order ?? ''))
    return 'call.order is not known: write `none`, or leave it out for the order of the session.';
  return (
    requestedSchemaProblem(answerSchema, call) ??
    samplingProblem(sampling) ??
    questionContentProblem(content) ??
    conversationProblem(conversation) ??
    historyProblem(history, bounds)
  );
}

/**
 * The request as it goes on: who asks is in the run from here on, and what the sender wrote of it goes no further.
 * Nor does what a sender would have a provider read as its own words.
 */
export function acceptedRequest(request: AgentRequest, ids: RunIds): AgentRequest {
  return { ...request, ...ids, userId: null, history: request.history.map(withoutProviderData) };
}

/**
 * Which groups a request asks for, as far as they are those of its agent, and whether its sender may make it. The
 * configuration is that of the agent's runs (evaluatorFor).
 */
export function judgeRequest(
  request: Pick<AgentRequest, 'group' | 'userId' | 'agent' | 'call'>,
  principal: Principal,
  configuration: Configuration,
): { readonly group: readonly string[] | null; readonly permission: RequestVerdict } {
  const { agents = {}, agent, groupTree } = configuration;
  const own = agent === undefined ? undefined : agents[agent]?.groups;
  const group = groupsForAgent(request.group, own, principal.groups, groupTree);
  // What a request names is refused as a whole, also where its agent has none of it.
  const asked = normaliseGroups(request.group ?? group);
  return { group, permission: mayRequest(request, asked, principal, configuration) };
}

/**
 * A run at its beginning, the request with the groups that its agent leaves it, and whether its sender may make it.
 * The evaluator is that of the agent (evaluatorFor).
 */
export function beginning<Asked extends AgentRequest>(
  asked: Asked,
  principal: Principal,
  { configuration }: Pick<Evaluator, 'configuration'>,
  now: number,
): {
  readonly run: RunState;
  readonly request: Asked;
  readonly groups: readonly string[];
  readonly permission: RequestVerdict;
} {
  const { group, permission } = judgeRequest(asked, principal, configuration);
  const request = group === asked.group ? asked : { ...asked, group };
  const groups = normaliseGroups(group);
  const begun = beginRun(request, groups, normaliseState(request.state), configuration.limits, principal, now);
  const run = { ...begun, strategy: strategyFor(request, configuration) };
  return { run, request, groups, permission };
}

/**
 * The end of a request that is refused before its first iteration; `run` is null if its sender is unknown, and `tenant`
 * says then for which tenant the request was accepted before.
 */
export function denial(
  ids: RunIds,
  message: string,
  about: { readonly request: AgentRequest; readonly run: RunState | null; readonly tenant?: Tenant },
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

/**
 * Decides for the run’s next iteration, whose run has its conditions (withConditions). `now` is in milliseconds since
 * the epoch. A run that has its answer ends with it, also where it is cancelled.
 */
export function decideIteration(
  ids: RunIds,
  request: AgentRequest,
  given: RunState,
  evaluator: Evaluator,
  now: number,
  cancelled: Cancelled | null = null,
): Iteration {
  const answerSchema = answerSchemaOf(request, given, evaluator.configuration);
  // A summary of a tool fits no schema, so that the model is asked for the answer all the same.
  const open = answerSchema === null || given.answer === null ? given : { ...given, answer: null };
  const run = open.iteration === 0 ? routed(request, open, evaluator, now) : open;
  const { limits, version: configVersion, policy } = evaluator.configuration;
  const [model] = modelsOfRun(run, evaluator);
  const invalid = (message: string): Iteration => {
    const error = { code: 'invalid_request', message } as const;
    return { kind: 'end', response: errorResponse(ids, error, { request, run, configVersion }, now) };
  };
  if (run.answer !== null) {
    const about = { request, run, configVersion, state: normaliseState(request.state) };
    return { kind: 'end', response: answerResponse(ids, run.answer, about, now) };
  }
  if (cancelled !== null) {
    const error = { code: 'cancelled', message: cancelled.message } as const;
    return { kind: 'end', response: errorResponse(ids, error, { request, run, configVersion }, now) };
  }
  const gone = agentGone(request, evaluator);
  if (gone !== null) return invalid(gone);
  const end = runEnd(run, request.history, limits, now, model.price, {
    ...policy.budgets,
    maxOutputTokens: model.maxOutputTokens,
  });
  if (end !== null) return { kind: 'end', response: errorResponse(ids, end, { request, run, configVersion }, now) };
  const refusedStrategy = run.iteration === 0 ? strategyRefused(request, evaluator.configuration) : null;
  if (refusedStrategy !== null) return invalid(refusedStrategy);
  if (answerSchema !== null && model.provider === 'rules') return invalid(noFormOfRules);
  const { decision, fallbackGroups } = decideTools({ request, run }, evaluator, now);
  const next = nextIteration(run, decision);
  const chosen = chooseTools(request.toolChoice, next.iteration, decision.offered);
  if (!chosen.ok) return invalid(chosen.message);
  const unfit = run.iteration === 0 ? cannotBegin(run, decision, chosen.choice, evaluator) : null;
  if (unfit !== null) return invalid(unfit);
  const record = { ...toolset(ids, request, next, decision, chosen.choice, now), fallbackGroups };
  const beyond = turnBudgetEnd(record, evaluator);
  if (beyond !== null)
    return { kind: 'end', response: errorResponse(ids, beyond, { request, run, configVersion }, now) };
  return { kind: 'toolset', record, decision };
}

const noFormOfRules =
  'The built-in model `rules` gives no answers by a schema. Leave answer_schema out, or configure another model first.';

/** That the configuration has lost the run’s agent, as a sentence; null if it has not. */
function agentGone(request: AgentRequest, { configuration: { agents } }: Evaluator): string | null {
  const name = agentName(request);
  if (request.call !== null || hasAgent(agents, name)) return null;
  return `The agent ${quote(name)} is no longer in the configuration. Ask another one, or have it put back under agents.`;
}

/** Whether the record, which the log took then, has the form of a turn that comes back since its run’s time is up. */
export function isOverdue({ steps, run, inForceVersion }: AgentStepResult, takenAt: number): boolean {
  return steps.length === 0 && inForceVersion === '' && run.deadline <= takenAt + clockSkewMs;
}

/**
 * A turn that is re-driven or overdue, as the filter gets it back: nothing was done in it, and the filter’s own grant
 * says that it is the filter’s.
 */
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
    list: null,
    signature: grant,
    recordSignature: null,
    call: null,
  };
}
