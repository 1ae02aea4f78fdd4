import { runCost } from '@sluice/core';
import type { ModelPrice } from '@sluice/core';
import type { AgentResponse } from '@sluice/contracts';
import { check } from './check.js';
import type { RunEnd } from './check.js';
import type { Expectation } from './cases.js';

/** How one case went under one strategy and model. */
export interface CaseResult extends RunEnd {
  readonly name: string;
  readonly strategy: string;
  readonly model: string;
  readonly requestId: string;
  /** Sentences; none where the case passed. */
  readonly failures: readonly string[];
  /** Calls that the run made, those that made a plan included. */
  readonly steps: number;
  /** Turns of the run. */
  readonly iterations: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null where the model has no price. */
  readonly usd: number | null;
  readonly milliseconds: number;
}

export function resultOf(
  of: Pick<CaseResult, 'name' | 'strategy' | 'model'>,
  response: AgentResponse,
  end: RunEnd,
  about: { readonly expect: Expectation; readonly brought: number; readonly price: ModelPrice | undefined },
  differences: readonly string[] = [],
): CaseResult {
  const { run, history, requestId, iterations, endedAt } = response;
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, cacheWriteTokens = 0 } = run ?? {};
  const otherModels = run?.otherModels ?? null;
  const tokens = { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, otherModels };
  const { price } = about;
  return {
    ...of,
    ...end,
    requestId,
    failures: [...differences, ...check(end, about.expect)],
    steps: history.length - about.brought,
    iterations,
    inputTokens,
    outputTokens,
    usd: price === undefined ? null : runCost(tokens, price) / 1_000_000,
    milliseconds: run === null ? 0 : Math.max(0, endedAt - run.startedAt),
  };
}

/** The results of one strategy and model, summed up. */
export interface ColumnSummary {
  readonly strategy: string;
  readonly model: string;
  readonly cases: number;
  readonly passed: number;
  /** Means of a case. */
  readonly steps: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: number | null;
  readonly milliseconds: number;
}

export function summaries(results: readonly CaseResult[]): readonly ColumnSummary[] {
  const columns = Map.groupBy(results, ({ strategy, model }) => JSON.stringify([strategy, model]));
  return [...columns.values()].map((of) => {
    const { strategy, model } = of[0] as CaseResult;
    const mean = (value: (one: CaseResult) => number): number =>
      of.reduce((sum, one) => sum + value(one), 0) / of.length;
    return {
      strategy,
      model,
      cases: of.length,
      passed: of.filter(({ failures }) => failures.length === 0).length,
      steps: mean(({ steps }) => steps),
      inputTokens: mean((one) => one.inputTokens),
      outputTokens: mean((one) => one.outputTokens),
      usd: of.some(({ usd }) => usd === null) ? null : mean(({ usd }) => usd ?? 0),
      milliseconds: mean((one) => one.milliseconds),
    };
  });
}
