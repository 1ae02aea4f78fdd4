import {
  afterSteps,
  countCall,
  cut,
  endsRun,
  historyBytes,
  largestProviderData,
  normaliseState,
  sumOfOthers,
  transition,
  utf8Length,
} from '@sluice/core';
import { withPromptTokens } from './prompt-tokens.js';
import type {
  AgentRun,
  CallCounts,
  ConfiguredTool,
  Evaluator,
  JsonValue,
  RunConditions,
  RunState,
  Step,
  ToolInvocationRecord,
} from '@sluice/core';
import { make } from '@sluice/contracts';
import type { AgentStepResult, RequestedCall, ToolCall } from '@sluice/contracts';
import { longestName } from './calls.js';
import { isForModel } from './given/plan.js';

/**
 * A turn before the call at `index`: the state, the bytes of the history so far, how often each tool ran, and the
 * answer if a call ended the run.
 */
export interface TurnSoFar {
  readonly state: string;
  readonly bytes: number;
  readonly calls: CallCounts;
  readonly answer: string | null;
  /** What the run did so far, as its conditions have it; null while the configuration has no rules. */
  readonly did: Pick<RunConditions, 'succeeded' | 'approved'> | null;
}

/** The tools under the configuration that granted the turn. */
type Granted = Pick<Evaluator, 'byId' | 'policy'>;

/**
 * The turn behind the steps that are done, all of them of calls that were judged: behind a full history nothing is
 * parked.
 */
export function turnAfter(record: ToolCall, done: readonly Step[], granted: Granted): TurnSoFar {
  const begun: TurnSoFar = {
    state: normaliseState(record.request.state),
    bytes: historyBytes(record.request.history),
    calls: record.run.toolCalls,
    answer: record.run.answer,
    did: didBefore(record.run),
  };
  return done.reduce((turn, step, index) => afterStep(turn, record.calls[index]?.tool ?? '', step, granted), begun);
}

/** `toolId` is null for a call that was not made since the history was full. */
export function afterStep(turn: TurnSoFar, toolId: string | null, step: Step, granted: Granted): TurnSoFar {
  const { bytes, calls } = turn;
  const counted = toolId === null ? calls : countCall(calls, toolId, step);
  const ended = toolId !== null && step.outcome === 'ok' && endsRun(granted.byId(toolId));
  const answer = turn.answer ?? (ended ? step.observation : null);
  const did = toolId === null ? turn.did : didAfter(turn.did, toolId, step, counted !== calls, granted);
  return { state: step.state, bytes: bytes + historyBytes([step]), calls: counted, answer, did };
}

function didBefore({ conditions }: RunState): TurnSoFar['did'] {
  if (conditions === null) return null;
  const { succeeded, approved } = conditions;
  return { succeeded, approved };
}

/** An approval stands from the call that it let through on, until a later call of the tool is refused one. */
function didAfter(
  did: TurnSoFar['did'],
  toolId: string,
  { outcome, reason, endedAt }: Step,
  wasRun: boolean,
  granted: Granted,
): TurnSoFar['did'] {
  if (did === null) return null;
  let { succeeded, approved } = did;
  if (outcome === 'ok')
    succeeded = { ...succeeded, [toolId]: (Object.hasOwn(succeeded, toolId) ? (succeeded[toolId] ?? 0) : 0) + 1 };
  const tool = granted.byId(toolId);
  if (wasRun && tool !== undefined && granted.policy.decide(tool) === 'require_approval')
    approved = { ...approved, [toolId]: endedAt };
  else if (reason === 'approval_refused' || reason === 'approval_expired')
    approved = Object.fromEntries(Object.entries(approved).filter(([id]) => id !== toolId));
  return { succeeded, approved };
}

/** The step of a finished call; refusals are steps as well. */
export function stepOf(
  { thought, iteration }: Pick<ToolCall, 'thought' | 'iteration'>,
  index: number,
  state: string,
  tool: Pick<ConfiguredTool, 'key' | 'target'> | undefined,
  {
    toolCallId,
    name,
    args,
    result,
    resultHash,
    cachedAtMs,
    content,
    questions,
    rule,
    facts,
    error,
    startedAtMs,
    endedAtMs,
  }: ToolInvocationRecord,
  agentRun: AgentRun | null = null,
  edited: Step['edited'] = null,
): Step {
  return {
    thought: index === 0 ? thought : '',
    action: tool?.key ?? cut(name, longestName),
    arguments: args,
    observation: error === null ? observation(result) : error.safeMessage,
    outcome: error === null ? 'ok' : error.code,
    reason: error === null ? null : error.reason,
    stateBefore: state,
    state: error === null && tool !== undefined ? transition(tool, state) : state,
    toolCallId,
    iteration,
    index,
    startedAt: startedAtMs,
    endedAt: endedAtMs,
    resultHash,
    agentRun,
    providerData: null,
    cachedAt: cachedAtMs,
    documentation: null,
    content,
    questions,
    rule,
    facts,
    edited,
  };
}

/**
 * How a configuration of an earlier version has a call refused where the history is full; room.ts has the refusals of
 * today.
 */
export function historyFull(record: ToolCall, index: number, state: string, now: number): Step {
  const call = record.calls[index] as RequestedCall;
  return make.agentStep({
    action: cut(call.tool, longestName),
    observation: 'The history of this run is full; the call was not made.',
    outcome: 'execution',
    reason: 'result_too_large',
    stateBefore: state,
    state,
    toolCallId: cut(call.toolCallId, longestName),
    iteration: record.iteration,
    index,
    startedAt: now,
    endedAt: now,
  });
}

/** How the run goes on behind a turn’s steps, before the executor signs it. */
export function stepResult(
  record: ToolCall,
  steps: readonly Step[],
  { state, calls, answer, did }: Pick<TurnSoFar, 'state' | 'calls' | 'answer' | 'did'>,
  inForceVersion: string,
): AgentStepResult {
  const { requestId, sessionId, iteration, request, run, configVersion, list } = record;
  return {
    requestId,
    sessionId,
    iteration,
    steps,
    next: {
      ...request,
      state,
      history: withinBound([...request.history, ...steps.map((step) => inHistory(step, record))]),
    },
    run: {
      ...withAgentTokens(afterSteps(run, steps), steps),
      toolCalls: calls,
      answer,
      conditions: conditionsAfter(run, did),
    },
    configVersion,
    signature: null,
    recordSignature: null,
    inForceVersion,
    list,
    call: null,
  };
}

function conditionsAfter({ conditions }: RunState, did: TurnSoFar['did']): RunState['conditions'] {
  if (conditions === null || did === null) return conditions;
  const { succeeded, approved } = did;
  return { ...conditions, succeeded, approved };
}

/** What the runs used that calls were counts as the run’s own. */
function withAgentTokens(run: RunState, steps: readonly Step[]): RunState {
  return steps.reduce(
    (sum, { agentRun }) =>
      agentRun === null
        ? sum
        : {
            ...sum,
            inputTokens: sum.inputTokens + agentRun.inputTokens,
            outputTokens: sum.outputTokens + agentRun.outputTokens,
            otherModels: sumOfOthers(sum.otherModels, agentRun.otherModels),
            ...withPromptTokens(sum, agentRun),
          },
    run,
  );
}

/**
 * With a call that was made goes what its provider wants back; the step of a refused one, which repeats no argument,
 * repeats none of this either.
 */
function inHistory(step: Step, { calls }: ToolCall): Step {
  const call = calls[step.index];
  const providerData = call !== undefined && call.arguments === step.arguments ? call.providerData : null;
  return providerData === null ? withoutHash(step) : { ...withoutHash(step), providerData };
}

/**
 * The history with as much provider data as one may carry: the oldest goes first, since providers need that of late
 * turns most.
 */
function withinBound(history: readonly Step[]): readonly Step[] {
  let left: number = largestProviderData.history;
  const kept = history.toReversed().map((step) => {
    if (step.providerData === null) return step;
    left -= utf8Length(step.providerData);
    return left < 0 ? { ...step, providerData: null } : step;
  });
  return left < 0 ? kept.reverse() : history;
}

/**
 * What is for the audit it reads where the step is new; what goes on is what a service of any version passes on
 * whole, and the names of images and files, which the model of the next turn is given.
 */
function withoutHash(step: Step): Step {
  const { resultHash, cachedAt, documentation, content, questions, rule, facts } = step;
  const forModel = content.filter(isForModel);
  const isSame = forModel.length === content.length && questions.length === 0;
  const isBare = resultHash === null && cachedAt === null && documentation === null && rule === null;
  if (isBare && isSame && Object.keys(facts).length === 0) return step;
  const left = { resultHash: null, cachedAt: null, documentation: null, questions: [], rule: null, facts: noFacts };
  return { ...step, ...left, content: forModel };
}

const noFacts: Step['facts'] = Object.freeze({});

function observation(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
