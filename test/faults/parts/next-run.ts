import type { Asked } from '../check/observed.ts';
import type { Random } from '../random.ts';

/**
 * What is asked for next: one in five in the session of the one before, one in eight twice, one in six as a call
 * without a model; or calls alone, of which one in three is put where the filter passes it on.
 */
export function nextRun(asked: readonly Asked[], random: Random, onlyCalls = false): Asked {
  const number = asked.length + 1;
  const before = asked.at(-1);
  const shared = before !== undefined && random.between(1, 5) === 1;
  const repeated = random.between(1, 8) === 1;
  const isCall = random.between(1, 6) === 1 || onlyCalls;
  return {
    runId: `r-${number}`,
    sessionId: shared ? before.sessionId : `s-${number}`,
    repeated,
    isCall,
    topic: isCall && !(onlyCalls && random.between(1, 3) === 1) ? 'agent.calls' : 'agent.requests',
  };
}

/** The request of a run, as an upstream system writes it; its question is longer by so many characters. */
export function requestOf({ runId, sessionId, isCall }: Asked, longer = 0): string {
  const call = { tool: 'act', arguments: JSON.stringify({ run: runId, turn: 0 }) };
  return JSON.stringify({
    ...(isCall ? { call, state: 'analysis' } : {}),
    question: `Do run ${runId} now${' '.padEnd(longer, 'x')}`,
    group: ['work'],
    request_id: runId,
    session_id: sessionId,
  });
}
