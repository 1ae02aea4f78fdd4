import { normaliseState, runEnd } from '@sluice/core';
import type { Configuration, Step } from '@sluice/core';
import type { AgentResponse, AgentStep, AgentStepResult, CallDecision, ToolCall } from '@sluice/contracts';
import { cancelledTurn } from '../agent.js';
import type { Cancelled } from '../claims/cancel.js';
import { answerBy } from '../direct-call.js';
import { answerResponse, errorResponse } from '../ends/responses.js';
import { stepResult } from '../steps.js';
import type { TurnSoFar } from '../steps.js';

/** What became of the one call of a run without a model, before the executor signs it: decision, call and step. */
export function callResult(
  turn: ToolCall,
  steps: readonly Step[],
  after: Pick<TurnSoFar, 'state' | 'calls' | 'answer' | 'did'>,
  inForceVersion: string,
  call: CallDecision,
): AgentStepResult {
  return { ...stepResult(turn, steps, after, inForceVersion), list: null, call };
}

/**
 * The end of the run of such a call: its observation is the answer. `now` is in milliseconds since the epoch. A run
 * that has its answer ends with it, also where it is cancelled.
 */
export function endOfCall(
  { requestId, sessionId, steps, next: request, run, configVersion }: AgentStepResult,
  { limits }: Pick<Configuration, 'limits'>,
  now: number,
  cancelled: Cancelled | null = null,
): AgentResponse {
  const ids = { requestId, sessionId };
  if (run.answer === null) {
    if (cancelled !== null) return cancelledTurn({ ...ids, request, run, configVersion }, run, cancelled, now);
    // There is no other iteration that it could be one too many for.
    const end = runEnd({ ...run, iteration: 0 }, request.history, limits, now);
    if (end !== null) return errorResponse(ids, end, { request, run, configVersion }, now);
  }
  const observed = run.answer ?? steps.at(-1)?.observation ?? '';
  const about = { request, run, configVersion, state: normaliseState(request.state) };
  return answerResponse(ids, answerBy(observed), about, now);
}

/**
 * The step of a call by the end of its run, for who has not read its record yet: on Kafka the two are on two topics,
 * and either may come first. A run that ended by an error may have one too: its time was up while the call ran. Its
 * request brought so many steps along. Undefined where the run ended without one.
 */
export function stepAtEnd({ history }: Pick<AgentResponse, 'history'>, brought = 0): AgentStep | undefined {
  return history.slice(brought).at(-1);
}
