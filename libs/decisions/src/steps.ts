import { afterSteps, countCall, cut, endsRun, historyBytes, normaliseState, transition } from '@sluice/core';
import type {
  AgentRun,
  CallCounts,
  ConfiguredTool,
  Evaluator,
  JsonValue,
  RunState,
  Step,
  ToolInvocationRecord,
} from '@sluice/core';
import type { AgentStepResult, RequestedCall, ToolCall } from '@sluice/contracts';
import { longestName } from './calls.js';

/** A turn before the call at `index`: the state, the bytes of the history so far, how often each tool ran, and the answer if a call ended the run. */
export interface TurnSoFar {
  readonly state: string;
  readonly bytes: number;
  readonly calls: CallCounts;
  readonly answer: string | null;
}

/** The tools under the configuration that granted the turn. */
type Granted = Pick<Evaluator, 'byId'>;

/** The turn behind the steps that are done, all of them of calls that were judged: behind a full history nothing is parked. */
export function turnAfter(record: ToolCall, done: readonly Step[], granted: Granted): TurnSoFar {
  const begun: TurnSoFar = {
    state: normaliseState(record.request.state),
    bytes: historyBytes(record.request.history),
    calls: record.run.toolCalls,
    answer: record.run.answer,
  };
  return done.reduce((turn, step, index) => afterStep(turn, record.calls[index]?.tool ?? '', step, granted), begun);
}

/** `toolId` is null for a call that was not made since the history was full. */
export function afterStep(turn: TurnSoFar, toolId: string | null, step: Step, granted: Granted): TurnSoFar {
  const { bytes, calls } = turn;
  const counted = toolId === null ? calls : countCall(calls, toolId, step);
  const ended = toolId !== null && step.outcome === 'ok' && endsRun(granted.byId(toolId));
  const answer = turn.answer ?? (ended ? step.observation : null);
  return { state: step.state, bytes: bytes + historyBytes([step]), calls: counted, answer };
}

/** The step of a finished call; refusals are steps as well. */
export function stepOf(
  { thought, iteration }: Pick<ToolCall, 'thought' | 'iteration'>,
  index: number,
  state: string,
  tool: Pick<ConfiguredTool, 'key' | 'target'> | undefined,
  { toolCallId, name, args, result, resultHash, error, startedAtMs, endedAtMs }: ToolInvocationRecord,
  agentRun: AgentRun | null = null,
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
  };
}

/** How a configuration of an earlier version has a call refused where the history is full; room.ts has the refusals of today. */
export function historyFull(record: ToolCall, index: number, state: string, now: number): Step {
  const call = record.calls[index] as RequestedCall;
  return {
    thought: '',
    action: cut(call.tool, longestName),
    arguments: '',
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
    resultHash: null,
    agentRun: null,
  };
}

/** How the run goes on behind a turn’s steps, before the executor signs it. */
export function stepResult(
  record: ToolCall,
  steps: readonly Step[],
  { state, calls, answer }: Pick<TurnSoFar, 'state' | 'calls' | 'answer'>,
  inForceVersion: string,
): AgentStepResult {
  const { requestId, sessionId, iteration, request, run, configVersion } = record;
  return {
    requestId,
    sessionId,
    iteration,
    steps,
    next: { ...request, state, history: [...request.history, ...steps.map(withoutHash)] },
    run: { ...withAgentTokens(afterSteps(run, steps), steps), toolCalls: calls, answer },
    configVersion,
    signature: null,
    recordSignature: null,
    inForceVersion,
  };
}

/** What the runs used that calls were counts as the run’s own. */
function withAgentTokens(run: RunState, steps: readonly Step[]): RunState {
  let { inputTokens, outputTokens } = run;
  for (const { agentRun } of steps) {
    if (agentRun === null) continue;
    inputTokens += agentRun.inputTokens;
    outputTokens += agentRun.outputTokens;
  }
  return inputTokens === run.inputTokens && outputTokens === run.outputTokens
    ? run
    : { ...run, inputTokens, outputTokens };
}

/** The hash is for the audit, which reads it where the step is new; what goes on is what a service of any version passes on whole. */
export function withoutHash(step: Step): Step {
  return step.resultHash === null ? step : { ...step, resultHash: null };
}

function observation(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
