import type { Asked } from '../check/observed.ts';
import type { Random } from '../random.ts';

/** What is asked for next: one in five in the session of the one before, one in eight twice. */
export function nextRun(asked: readonly Asked[], random: Random): Asked {
  const number = asked.length + 1;
  const before = asked.at(-1);
  const shared = before !== undefined && random.between(1, 5) === 1;
  return {
    runId: `r-${number}`,
    sessionId: shared ? before.sessionId : `s-${number}`,
    repeated: random.between(1, 8) === 1,
  };
}

/** The request of a run, as an upstream system writes it; its question is longer by so many characters. */
export function requestOf({ runId, sessionId }: Asked, longer = 0): string {
  return JSON.stringify({
    question: `Do run ${runId} now${' '.padEnd(longer, 'x')}`,
    group: ['work'],
    request_id: runId,
    session_id: sessionId,
  });
}
