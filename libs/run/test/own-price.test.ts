import { describe, expect, it } from '@jest/globals';
import type { Evaluator } from '@sluice/core';
import { ruleFactsOf } from '@sluice/run';

const model = (name: string, input: number) => ({ provider: 'anthropic', name, price: { input, output: 0 } });
const evaluator = {
  configuration: { model: model('dear', 10), fallbacks: [model('cheap', 1)] },
  byId: (id: string) => (id === 'core__helper' ? { agent: { model: 'anthropic/cheap' } } : undefined),
} as unknown as Evaluator;
const spent = (parent: { readonly tool: string } | null): unknown => {
  const run = { conditions: null, principal: null, parent, inputTokens: 100, outputTokens: 5 };
  return ruleFactsOf({ request: { question: 'Q' }, run: run as never }, evaluator, 0).spent.microUsd;
};

describe('what a run has spent, as rules on its budget see it', () => {
  it('is at the price of the model that the run asks first', () => {
    expect(spent(null)).toBe(1_000);
  });

  it('is at the price of an agent’s own model in the agent’s run', () => {
    expect(spent({ tool: 'core__helper' })).toBe(100);
    expect(spent({ tool: 'core__other' })).toBe(1_000);
  });
});
