import type { Principal } from '../identity/principal.js';
import type { AgentRun } from '../run/step.js';
import { noCalls } from '../rules/budget-used.js';
import type { CallCounts } from '../rules/budget-used.js';
import type { RunState, Transition } from '../run/run-state.js';
import type { Step } from '../run/step.js';

/*
 * What a digest of a run is over, each part with its members sorted by name and undefined where they are absent, as canonical.ts writes them
 * one by one: in one go it takes half as long. A part with a member that is not known here is canonical.ts’s.
 */

/** What a run goes on with, but for its history; the names of the wire. */
interface Asked {
  readonly call?: { readonly tool: string; readonly arguments: string } | null;
  readonly connections: readonly string[] | null;
  readonly deadline: number | null;
  readonly group: readonly string[] | null;
  readonly maxIterations: number | null;
  readonly question: string;
  readonly requestId: string | null;
  readonly sessionId: string | null;
  readonly state: string | null;
  readonly toolChoice: string | null;
  readonly toolIds: readonly string[] | null;
  readonly userId: string | null;
}

export function orderedRequest(request: Asked): Record<keyof Asked, unknown> {
  return {
    call: orderedCall(request.call),
    connections: request.connections ?? undefined,
    deadline: request.deadline ?? undefined,
    group: request.group ?? undefined,
    maxIterations: request.maxIterations ?? undefined,
    question: request.question,
    requestId: request.requestId ?? undefined,
    sessionId: request.sessionId ?? undefined,
    state: request.state ?? undefined,
    toolChoice: request.toolChoice ?? undefined,
    toolIds: request.toolIds ?? undefined,
    userId: request.userId ?? undefined,
  };
}

function orderedCall(call: Asked['call']): unknown {
  return call === null || call === undefined ? undefined : { arguments: call.arguments, tool: call.tool };
}

/** A run without what the agent adds to it, and without a parent. */
export function orderedRun(
  run: RunState,
): Record<Exclude<keyof RunState, 'inputTokens' | 'outputTokens' | 'parent'>, unknown> {
  return {
    answer: run.answer ?? undefined,
    availableTools: run.availableTools,
    deadline: run.deadline,
    filteredByGroup: run.filteredByGroup,
    filteredByState: run.filteredByState,
    initialState: run.initialState,
    iteration: run.iteration,
    maxIterations: run.maxIterations,
    principal: run.principal === null ? undefined : orderedPrincipal(run.principal),
    redrive: run.redrive ?? undefined,
    requestedGroups: run.requestedGroups,
    startedAt: run.startedAt,
    stateEnteredAt: run.stateEnteredAt,
    stateTransitions: run.stateTransitions.map(orderedTransition),
    toolCalls: sorted(run.toolCalls),
  };
}

function orderedPrincipal(principal: Principal): Record<keyof Principal, unknown> {
  return {
    actorId: principal.actorId,
    connections: principal.connections,
    groups: principal.groups,
    subjectId: principal.subjectId ?? undefined,
    tenantId: principal.tenantId,
  };
}

function orderedTransition({ from, timestamp, to, tool }: Transition): Transition {
  return { from, timestamp, to, tool };
}

function sorted(counts: CallCounts): CallCounts {
  const names = Object.keys(counts);
  return names.length < 2 ? counts : Object.fromEntries(names.sort().map((name) => [name, counts[name] ?? 0]));
}

/**
 * Steps are most of a record, so they are written in one go, in one order of keys; the type sees to it that none is left out. A result’s
 * hash is for the audit alone and means nothing in a history.
 */
export function orderedStep(step: Step): Record<Exclude<keyof Step, 'resultHash'>, unknown> {
  return {
    thought: step.thought,
    action: step.action,
    arguments: step.arguments,
    observation: step.observation,
    outcome: step.outcome,
    reason: step.reason ?? undefined,
    stateBefore: step.stateBefore,
    state: step.state,
    toolCallId: step.toolCallId,
    iteration: step.iteration,
    index: step.index,
    startedAt: step.startedAt,
    endedAt: step.endedAt,
    agentRun: orderedAgentRun(step.agentRun ?? null),
  };
}

function orderedAgentRun(run: AgentRun | null): AgentRun | undefined {
  if (run === null) return undefined;
  const { requestId, inputTokens, outputTokens } = run;
  return { requestId, inputTokens, outputTokens };
}

const requestNames = new Set([...Object.keys(orderedRequest({} as Asked)), 'history']);
const emptyRun = { principal: null, stateTransitions: [], toolCalls: noCalls };
const runNames = new Set([
  ...Object.keys(orderedRun(emptyRun as unknown as RunState)),
  'inputTokens',
  'outputTokens',
  'parent',
]);

/** Whether it has the members that its form has, and no others. */
export function isRequest(value: object): value is Asked {
  return hasJust(value, requestNames);
}

/** Whether it has the members that its form has, and no others; a parent, which few have, is none of them. */
export function isRun(value: object): value is RunState {
  return hasJust(value, runNames) && (value as RunState).parent === null;
}

function hasJust(value: object, names: ReadonlySet<string>): boolean {
  const own = Object.keys(value);
  return own.length === names.size && own.every((name) => names.has(name));
}
