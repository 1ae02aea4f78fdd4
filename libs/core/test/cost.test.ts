import { describe, expect, it } from '@jest/globals';
import { budgetEnd, costOf, runBudgetEnd, runBudgetLeft, runCost, spentBy, sumOfOthers } from '@sluice/core';
import type { ParentCall } from '@sluice/core';

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

describe('what a run cost that several models took', () => {
  const price = { input: 1, output: 2, cachedInput: 0.5, cacheWrite: 3 };
  const others = { inputTokens: 400, outputTokens: 40, cachedInputTokens: 300, cacheWriteTokens: 100, microUsd: 9_000 };
  const both = { ...run, otherModels: others };
  // Of the first model 600 were read, 500 of them from the cache, and 60 written.
  const cost = 100 * 1 + 500 * 0.5 + 60 * 2 + 9_000;

  it('is what each one’s tokens cost', () => {
    expect(runCost(both, price)).toBe(cost);
    expect(runCost({ ...run, otherModels: null }, price)).toBe(costOf(run, price));
    expect(spentBy(both, price)).toEqual({ tokens: 1_100, microUsd: cost });
    expect(spentBy(both, undefined)).toEqual({ tokens: 1_100, microUsd: null });
  });

  it('is what is taken from the run’s money', () => {
    expect(runBudgetLeft(both, price, { microUsdPerRun: cost + 7 }).microUsd).toBe(7);
    const end = (microUsdPerRun: number, more = {}) =>
      runBudgetEnd(both, price, 40, { microUsdPerRun, maxOutputTokens: 5, ...more })?.code ?? null;
    // Ten tokens to read, and five to write.
    expect([end(cost + 20), end(cost + 19)]).toEqual([null, 'budget_exceeded']);
    const turnPrice = { input: 10, output: 20 };
    expect([end(cost + 200, { turnPrice }), end(cost + 199, { turnPrice })]).toEqual([null, 'budget_exceeded']);
  });

  it('is what is taken from an agent’s money', () => {
    const end = (maxMicroUsd: number) =>
      budgetEnd({ ...both, parent: { maxTokens: null, maxMicroUsd } as ParentCall }, price)?.code ?? null;
    expect([end(cost + 1), end(cost)]).toEqual([null, 'budget_exceeded']);
  });

  it('adds up, and is nothing where no other model answered', () => {
    const twice = {
      inputTokens: 800,
      outputTokens: 80,
      cachedInputTokens: 600,
      cacheWriteTokens: 200,
      microUsd: 18_000,
    };
    expect(sumOfOthers(others, others)).toEqual(twice);
    expect([sumOfOthers(null, others), sumOfOthers(others, null)]).toEqual([others, others]);
    expect(sumOfOthers(null, null)).toBeNull();
  });
});
