import type { OtherModels } from '@sluice/records';
import type { ModelPrice } from '../settings/model-types.js';

/** Tokens of a turn or a run; those of a cache are part of the input. */
interface PricedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
}

/** Tokens of a run; `otherModels` has those that models took which it does not ask first, and what they cost. */
export interface RunTokens extends PricedTokens {
  readonly otherModels?: OtherModels | null;
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

/** What the run cost so far, in millionths: `price` is that of the model that it asks first. */
export function runCost(run: RunTokens, price: ModelPrice): number {
  const other = run.otherModels ?? null;
  if (other === null) return costOf(run, price);
  const { cachedInputTokens = 0, cacheWriteTokens = 0 } = run;
  const own = {
    inputTokens: run.inputTokens - other.inputTokens,
    outputTokens: run.outputTokens - other.outputTokens,
    cachedInputTokens: cachedInputTokens - other.cachedInputTokens,
    cacheWriteTokens: cacheWriteTokens - other.cacheWriteTokens,
  };
  return costOf(own, price) + other.microUsd;
}

/** Both together; null where neither has any. */
export function sumOfOthers(one: OtherModels | null, more: OtherModels | null): OtherModels | null {
  if (one === null || more === null) return one ?? more;
  return {
    inputTokens: one.inputTokens + more.inputTokens,
    outputTokens: one.outputTokens + more.outputTokens,
    cachedInputTokens: one.cachedInputTokens + more.cachedInputTokens,
    cacheWriteTokens: one.cacheWriteTokens + more.cacheWriteTokens,
    microUsd: one.microUsd + more.microUsd,
  };
}
