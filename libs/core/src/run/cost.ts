import type { ModelPrice } from '../settings/model-types.js';

/** Tokens of a turn or a run; those of a cache are part of the input. */
export interface PricedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
}

/** What the tokens cost, in millionths: a price is for a million tokens. */
export function costOf(
  { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 }: PricedTokens,
  { input, output, cachedInput = input, cacheWrite = input }: ModelPrice,
): number {
  // What is dearer or cheaper is added, so that without such a price the sum is exactly that of input and output.
  const ofCache = cachedInputTokens * (cachedInput - input) + cacheWriteTokens * (cacheWrite - input);
  return inputTokens * input + ofCache + outputTokens * output;
}
