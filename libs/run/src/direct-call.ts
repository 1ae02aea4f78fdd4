import type { Evaluator, ModelTurn } from '@sluice/core';
import type { Toolset } from '@sluice/contracts';

/**
 * The turn of a run whose request makes one call itself, null for every other run: first the call, then its result as
 * the answer. What a model says decides nothing about what may run, and neither does this: grant, policy and
 * approvals are the executor’s affair as ever.
 */
export function directTurn({ request, iteration }: Toolset, evaluator: Pick<Evaluator, 'tool'>): ModelTurn | null {
  const { call, history } = request;
  if (call === null) return null;
  const turn = { thought: '', inputTokens: 0, outputTokens: 0 };
  // An upstream system may send steps of its own, so that there are some says nothing of this run.
  const last = iteration > 1 ? history.at(-1) : undefined;
  if (last !== undefined) return { ...turn, calls: [], answer: answerBy(last.observation) };
  const made = { toolCallId: 'call-0', tool: evaluator.tool(call.tool)?.id ?? call.tool, arguments: call.arguments };
  return { ...turn, calls: [made], answer: null };
}

/** The answer of a run whose request makes one call itself, by what its call gave. */
export function answerBy(observation: string): string {
  return observation === '' ? 'Done.' : observation;
}
