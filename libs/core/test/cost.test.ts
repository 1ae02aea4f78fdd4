import { describe, expect, it } from '@jest/globals';
import { costOf, runBudgetLeft } from '@sluice/core';

const run = { inputTokens: 1_000, outputTokens: 100, cachedInputTokens: 800, cacheWriteTokens: 100 };

describe('what tokens cost', () => {
  it('is by input and output alone where the cache has no price', () => {
    expect(costOf(run, { input: 3, output: 15 })).toBe(4_500);
  });

  it('is less for what came from a cache, and more for what went into one, as the prices say', () => {
    const price = { input: 3, output: 15, cachedInput: 0.5, cacheWrite: 4 };
    expect(costOf(run, price)).toBe(100 * 3 + 800 * 0.5 + 100 * 4 + 100 * 15);
    expect(runBudgetLeft(run, price, { microUsdPerRun: 3_000 }).microUsd).toBe(400);
  });
});
