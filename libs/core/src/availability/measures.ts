import { measureName } from './load.js';
import type { AvailabilityRule } from './types.js';

/**
 * What has to be measured for the rules, by the name on the records; the value is the query for Prometheus, null for
 * Sluice’s own measures.
 */
export function measuresOf(rules: readonly AvailabilityRule[]): ReadonlyMap<string, string | null> {
  const measures = new Map<string, string | null>();
  for (const { load } of rules) {
    if (load === undefined || load.measure === 'run_budget_left') continue;
    measures.set(measureName(load.measure), typeof load.measure === 'string' ? null : load.measure.prometheus);
  }
  return measures;
}

/** Names of the claims that the rules ask for: only these go onto the records. */
export function claimsOf(rules: readonly AvailabilityRule[]): readonly string[] {
  const named = rules.flatMap(({ when, unless }) => [when, unless].flatMap((one) => Object.keys(one?.claims ?? {})));
  return [...new Set(named)];
}

/** The values of a claim as texts; nothing of one that is neither a text, a number, a boolean nor a list of these. */
export function claimValues(claim: unknown): readonly string[] {
  const items: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  const texts = items.filter((item) => ['string', 'number', 'boolean'].includes(typeof item)).map(String);
  return texts.slice(0, mostValues).map((text) => text.slice(0, longestValue));
}

/** What is on the records of a claim, at most. */
const mostValues = 64;
const longestValue = 256;
