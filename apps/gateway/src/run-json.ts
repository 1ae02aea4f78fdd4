import { recordToJson } from '@sluice/contracts';
import type { AgentResponse } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { RunProgress } from './run-progress.js';
import type { Followed, RunAccess } from '@sluice/host';
import type { RunPlace } from './run-place.js';

/** A run that has not ended, with its calls and tokens so far. */
export function running({ requestId, sessionId, since }: RunPlace, progress: RunProgress = new RunProgress()): object {
  return { request_id: requestId, session_id: sessionId, status: 'running', since, ...progress.json() };
}

/** How a run ended, as its sender reads it; how far it is if it has not ended within so many milliseconds behind its past. */
export async function endOf(
  whose: RunAccess,
  past: Iterable<Incoming> | AsyncIterable<Incoming>,
  followed: Followed,
  milliseconds: number,
): Promise<{ readonly end: object } | { readonly running: RunProgress } | 'not_theirs'> {
  const progress = new RunProgress();
  for await (const message of past) {
    const end = endIn(message, whose, progress);
    if (end !== null) return end;
  }
  for (const until = performance.now() + milliseconds; ;) {
    const left = until - performance.now();
    const message = left <= 0 ? null : await followed.next(left);
    if (message === null || message === undefined) return { running: progress };
    if (!(await whose.concerns(message))) continue;
    const end = endIn(message, whose, progress);
    if (end !== null) return end;
  }
}

function endIn(
  message: Incoming,
  whose: RunAccess,
  progress: RunProgress,
): { readonly end: object } | null | 'not_theirs' {
  const telling = whose.of(message);
  if (telling === 'not_theirs') return 'not_theirs';
  progress.add(message);
  return telling === 'tell' && message.topic === 'agent.responses' ? { end: ended(message.record, progress) } : null;
}

/** Without the run’s inside; of a request that never began nothing but why. */
function ended(response: AgentResponse, progress: RunProgress): object {
  const wire = recordToJson('AgentResponse', response) as Readonly<Record<string, unknown>>;
  const { request_id, session_id, kind, answer, error, incomplete } = wire;
  const { state, iterations, history, config_version, ended_at } = wire;
  const outcome = { request_id, session_id, status: 'ended', kind, answer, error, incomplete };
  if (response.run === null) return outcome;
  return { ...outcome, state, iterations, history, config_version, ended_at, ...progress.json() };
}
