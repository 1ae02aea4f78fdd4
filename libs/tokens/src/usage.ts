import type { ModelTurn, TurnTokens } from '@sluice/core';
import type { TokenCounter } from './token-counter.js';

/** Other tokenizers than ours give at most so many times fewer tokens for the same text, or more. */
const mostFewer = 4;
const mostMore = 16;

/** A count that is so many tokens short says little of a small prompt, which providers write out in their own way. */
const leastShort = 750;

/** Tokens that a provider may add to a turn of its own: its own prompts, and reasoning that it does not show. */
const mostHidden = 200_000;

/**
 * The tokens of a turn: those that its provider reports, unless it reports none, or a number that this text cannot
 * have. Then they are ours, so that a budget holds with any server. `input` is our count of what was sent.
 */
export async function checkedUsage(
  turn: ModelTurn,
  input: number,
  model: string,
  counter: TokenCounter,
): Promise<TurnTokens> {
  const { thought, answer, calls, cachedInputTokens, cacheWriteTokens } = turn;
  const written = [thought, answer ?? '', ...calls.flatMap(({ tool, arguments: args }) => [tool, args])];
  const output = await counter.count(written, model);
  const inputTokens = plausible(turn.inputTokens, input);
  return {
    inputTokens,
    outputTokens: plausible(turn.outputTokens, output.tokens),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens: Math.min(cachedInputTokens, inputTokens) }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens: Math.min(cacheWriteTokens, inputTokens) }),
  };
}

/** What is reported, if it can be right; else our count. */
export function plausible(reported: number, counted: number): number {
  const isTooFew = reported === 0 || (reported * mostFewer < counted && counted - reported > leastShort);
  const isTooMany = reported > counted * mostMore + mostHidden;
  return isTooFew || isTooMany || !Number.isSafeInteger(reported) ? counted : reported;
}
