import { describe, expect, it } from '@jest/globals';
import type { Evaluator, RunState } from '@sluice/core';
import { make } from '@sluice/contracts';
import { decideIteration, recordedConditions } from '@sluice/run';

const evaluator = {
  configuration: {
    ...{ version: 'c-1', limits: { historyBytes: 1_000 }, policy: { budgets: {} } },
    ...{ model: { provider: 'rules', maxOutputTokens: 1 }, fallbacks: [] },
  },
} as unknown as Evaluator;
/** A run in its second iteration, whose time is up at 100. */
const run = (answer: string | null) =>
  ({ iteration: 1, maxIterations: 5, deadline: 100, parent: null, answer, memory: null }) as unknown as RunState;
const end = (answer: string | null, cancelled: boolean) => {
  const why = cancelled ? { message: 'Enough.' } : null;
  const request = make.agentRequest({ question: 'Q' });
  const ids = { requestId: 'r', sessionId: 's' };
  const decided = decideIteration(ids, request, run(answer), evaluator, 200, why as never);
  if (decided.kind !== 'end') throw new Error('It goes on.');
  return [decided.response.answer, decided.response.error?.code ?? null];
};

describe('a run at its next turn', () => {
  it('ends with the answer that it has, else since it was cancelled, else with its time', () => {
    expect(end('Done.', true)).toEqual(['Done.', null]);
    expect(end(null, true)).toEqual([null, 'cancelled']);
    expect(end(null, false)).toEqual([null, 'deadline_exceeded']);
  });

  it('that was recorded without conditions was judged by nothing', () => {
    const { measured, origin } = recordedConditions({ conditions: null });
    expect([measured, origin]).toEqual([
      { loads: {}, held: [] },
      { channel: '', claims: {} },
    ]);
  });
});
