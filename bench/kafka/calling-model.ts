import type { Model } from '@sluice/core';

/** Iterations of a run, one run after another: a run’s history grows, and with it what is hashed, signed and asked. */
export const perRun = 10;

/** Answers at once: calls the tool in every turn of a run but the last. */
export function callsUntilFull(tool: string): Model {
  return {
    name: 'bench',
    turn: ({ history }) =>
      Promise.resolve({
        thought: '',
        calls: history.length < perRun ? [{ toolCallId: `c-${history.length}`, tool, arguments: '{}' }] : [],
        answer: history.length < perRun ? null : 'Done',
        inputTokens: 0,
        outputTokens: 0,
      }),
  };
}
