import type { ModelPrice } from '../configuration/types.js';
import type { RunErrorCode } from '../errors.js';
import type { ParentCall } from './step.js';

/** Why a run ends without an answer, as its AgentResponse says it. */
export interface RunEnd {
  readonly code: RunErrorCode;
  readonly message: string;
}

/** The call whose agent begins with this end of a turn, one before the first iteration; null for any other turn’s end. */
export function agentBegunBy<P>(turn: {
  readonly iteration: number;
  readonly run: { readonly parent: P | null };
}): P | null {
  return turn.iteration === 0 ? turn.run.parent : null;
}

/**
 * Why a run that answers a call may not ask the model again, or null if it may (K-65). What the last turn used beyond a budget is counted,
 * not taken back. Without a price the rest of the money is unknown, so nothing is.
 */
export function budgetEnd(
  {
    parent,
    inputTokens,
    outputTokens,
  }: { readonly parent: ParentCall | null; readonly inputTokens: number; readonly outputTokens: number },
  price: ModelPrice | undefined,
): RunEnd | null {
  if (parent === null) return null;
  const { maxTokens, maxMicroUsd } = parent;
  const code = 'budget_exceeded';
  const tokens = inputTokens + outputTokens;
  if (maxTokens !== null && tokens >= maxTokens)
    return { code, message: `The agent used ${tokens} of its ${maxTokens} tokens and has no answer yet.` };
  if (maxMicroUsd === null) return null;
  const usd = (maxMicroUsd / 1_000_000).toString();
  if (price === undefined)
    return { code, message: `The agent may cost ${usd} US dollars, and no price says what it cost so far.` };
  // A price is for a million tokens, and the budget in millionths.
  const used = inputTokens * price.input + outputTokens * price.output;
  if (used < maxMicroUsd) return null;
  return { code, message: `The agent used up the ${usd} US dollars that it may cost and has no answer yet.` };
}
