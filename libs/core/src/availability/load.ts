import { runCost, type RunTokens } from '../run/cost.js';
import type { ModelPrice } from '../settings/model-types.js';
import type { Budgets } from '../settings/policy-types.js';
import type { CallCounts } from '../rules/call-counts.js';
import type { AvailabilityRule, LoadCondition, RuleFacts } from './types.js';

/** The name of a measure on the records. */
export function measureName(measure: LoadCondition['measure']): string {
  return typeof measure === 'string' ? measure : `prometheus: ${measure.prometheus}`;
}

/**
 * Whether the load closes the rule’s tools. Between the two thresholds what was before stays. A value that could not
 * be had closes them; one that was not measured at all, since the configuration of that time had no such rule, does
 * not.
 */
export function isLoadClosing(
  load: LoadCondition,
  rule: string,
  value: number | null | undefined,
  held: readonly string[],
): boolean {
  if (value === undefined) return false;
  if (value === null || Number.isNaN(value)) return true;
  return isBeyond(load, value, load.close) || (isBeyond(load, value, load.open) && held.includes(rule));
}

function isBeyond({ isHighClosing }: LoadCondition, value: number, threshold: number): boolean {
  return isHighClosing ? value > threshold : value < threshold;
}

/** The rules that their load closes after these measurements, by those that it closed before. */
export function heldAfter(
  rules: readonly AvailabilityRule[],
  loads: RuleFacts['loads'],
  before: readonly string[],
): readonly string[] {
  return rules
    .filter(({ name, load }) => {
      if (load === undefined || load.measure === 'run_budget_left') return false;
      return isLoadClosing(load, name, loads[measureName(load.measure)], before);
    })
    .map(({ name }) => name);
}

/** What is left of the run’s budgets, as a part of 1: of the one that is used up most. 1 where nothing is limited. */
export function budgetLeft(budgets: Budgets, calls: CallCounts, spent: RuleFacts['spent']): number {
  const left = (used: number | null, limit: number | null | undefined): number => {
    if (limit === null || limit === undefined) return 1;
    return used === null ? 0 : Math.max(0, 1 - used / limit);
  };
  let made = 0;
  for (const count of Object.values(calls)) made += count;
  return Math.min(
    left(made, budgets.callsPerRun),
    left(spent.tokens, budgets.tokensPerRun),
    left(spent.microUsd, budgets.microUsdPerRun),
  );
}

/** Tokens and millionths of a US dollar; null for money without a price. */
export function spentBy(run: RunTokens, price: ModelPrice | undefined): RuleFacts['spent'] {
  const microUsd = price === undefined ? null : runCost(run, price);
  return { tokens: run.inputTokens + run.outputTokens, microUsd };
}
