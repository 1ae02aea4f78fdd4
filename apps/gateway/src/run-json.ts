import { recordToJson } from '@sluice/contracts';
import type { AgentResponse } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import type { RunPlace } from './run-place.js';
import type { Followed } from './watch/followed.js';
import type { RunAccess } from './watch/run-access.js';

/** A run that has not ended. */
export function running({ requestId, sessionId, since }: RunPlace): object {
  return { request_id: requestId, session_id: sessionId, status: 'running', since };
}

/** How a run ended, as its sender reads it; null if it has not within so many milliseconds behind its past. */
export async function endOf(
  whose: RunAccess,
  past: Iterable<Incoming> | AsyncIterable<Incoming>,
  followed: Followed,
  milliseconds: number,
): Promise<object | null | 'not_theirs'> {
  for await (const message of past) {
    const end = endIn(message, whose);
    if (end !== null) return end;
  }
  for (const until = performance.now() + milliseconds; ;) {
    const left = until - performance.now();
    const message = left <= 0 ? null : await followed.next(left);
    if (message === null || message === undefined) return null;
    if (!(await whose.concerns(message))) continue;
    const end = endIn(message, whose);
    if (end !== null) return end;
  }
}

function endIn(message: Incoming, whose: RunAccess): object | null | 'not_theirs' {
  const telling = whose.of(message);
  if (telling === 'not_theirs') return 'not_theirs';
  return telling === 'tell' && message.topic === 'agent.responses' ? ended(message.record) : null;
}

/** Without the run’s inside; of a request that never began nothing but why. */
function ended(response: AgentResponse): object {
  const wire = recordToJson('AgentResponse', response) as Readonly<Record<string, unknown>>;
  const { request_id, session_id, kind, answer, error, state, iterations, history, config_version, ended_at } = wire;
  const outcome = { request_id, session_id, status: 'ended', kind, answer, error };
  return response.run === null ? outcome : { ...outcome, state, iterations, history, config_version, ended_at };
}
