import { recordToJson } from '@sluice/contracts';
import type { AgentRequest, AgentResponse } from '@sluice/contracts';
import type { Verifier } from '@sluice/core';
import { endSignature, suretyOf } from '@sluice/run';
import type { EndSignature } from '@sluice/run';
import type { Incoming } from '@sluice/bus';
import type { Waiting } from '@sluice/run';
import { RunProgress } from './run-progress.js';
import type { Followed, RunAccess } from '@sluice/host';
import type { ShownArguments } from '@sluice/core';
import type { RecordView } from './record-view.js';
import type { RunLocation } from './run-location.js';

/** A run that has not ended, with its calls and tokens so far, and what it waits for. */
export function running(
  { requestId, sessionId, since }: RunLocation,
  progress: RunProgress,
  waiting: Waiting | null = null,
): object {
  const isWaiting = waiting !== null && progress.isWithModel(waiting.iteration);
  const waits = isWaiting ? { waiting: waitingJson(waiting) } : {};
  return { request_id: requestId, session_id: sessionId, status: 'running', since, ...progress.json(), ...waits };
}

/** Since when a run waits for its model, and why. */
export function waitingJson({ iteration, since, reason }: Waiting): object {
  return { iteration, since, reason };
}

/**
 * How a run ended, as its sender reads it; how far it is if it has not ended within so many milliseconds behind its
 * past.
 */
export async function endOf(
  whose: RunAccess,
  past: Iterable<Incoming> | AsyncIterable<Incoming>,
  followed: Followed,
  milliseconds: number,
  signatures: Verifier,
  view: RecordView,
  request: AgentRequest | null = null,
): Promise<{ readonly end: object } | { readonly running: RunProgress } | 'not_theirs'> {
  const progress = new RunProgress(view);
  if (request !== null) progress.asks(request);
  for await (const message of past) {
    const end = await endIn(message, whose, progress, signatures, view.shown);
    if (end !== null) return end;
  }
  for (const until = performance.now() + milliseconds; ;) {
    const left = until - performance.now();
    const message = left <= 0 ? null : await followed.next(left);
    if (message === null || message === undefined) return { running: progress };
    if (!(await whose.concerns(message))) continue;
    const end = await endIn(message, whose, progress, signatures, view.shown);
    if (end !== null) return end;
  }
}

async function endIn(
  message: Incoming,
  whose: RunAccess,
  progress: RunProgress,
  signatures: Verifier,
  shown: ShownArguments,
): Promise<{ readonly end: object } | null | 'not_theirs'> {
  const telling = whose.of(message);
  if (telling === 'not_theirs') return 'not_theirs';
  progress.add(message);
  if (telling !== 'tell' || message.topic !== 'agent.responses') return null;
  const signature = await endSignature(message, signatures);
  return signature === null ? null : { end: ended(message.record, signature, progress, shown) };
}

/** Without the run’s inside; of a request that never began nothing but why. */
function ended(response: AgentResponse, signature: EndSignature, progress: RunProgress, shown: ShownArguments): object {
  const seen = response.history.map((step) => ({ ...step, arguments: shown(step.action, step.arguments) }));
  const wire = recordToJson('AgentResponse', { ...response, history: seen }) as Readonly<Record<string, unknown>>;
  const { request_id, session_id, kind, answer, structured, error, incomplete } = wire;
  const { state, iterations, history, config_version, ended_at } = wire;
  const answered = { answer, structured, error, incomplete, ...suretyOf(response) };
  const outcome = { request_id, session_id, status: 'ended', kind, ...answered, signature };
  if (response.run === null) return outcome;
  return { ...outcome, state, iterations, history, config_version, ended_at, ...progress.json() };
}
