import { binds } from '../availability/conditions.js';
import type { AvailabilityRule, RuleFacts } from '../availability/types.js';
import type { PastLimit } from '../ports/past-calls.js';
import { amountOf, decimalOf } from './amounts.js';
import { itemOf, scopeOf } from './scope.js';
import type { PastCaller, PastScope, TotalLimit } from './types.js';
import { spanInWords } from './words.js';

/** What a rule lets calls of its tools add up to within a sliding span, on the wire. */
export interface SpanLimit {
  readonly rule: string;
  /** Whose calls it counts together. */
  readonly per: PastScope;
  /** The span: `1d`. */
  readonly within: string;
  /** The path of the argument whose numbers are summed; null where calls are counted. */
  readonly argument: string | null;
  /** A decimal number. */
  readonly limit: string;
}

/** The same with what it counts. */
export interface CountedSpan extends Pick<PastLimit, 'scope' | 'items' | 'since'> {
  readonly limit: SpanLimit;
}

/** The totals of these rules, and what they allow calls of before, for a call of the tool that they bind. */
export function countedSpans(
  rules: readonly AvailabilityRule[],
  { toolId, caller, state }: { readonly toolId: string; readonly caller: PastCaller; readonly state: string },
  facts: RuleFacts,
): readonly CountedSpan[] {
  const binding = rules.filter((rule) => rule.tools.includes(toolId) && binds(rule.whom, facts, state));
  return binding.flatMap(({ name: rule, tools, history, totals = [] }) =>
    [...totals, ...atMostOf(history)].map(({ of, atMost, per, withinMs }) => ({
      limit: {
        ...{ rule, per, within: spanInWords(withinMs), argument: of === 'calls' ? null : of.path },
        limit: decimalOf(amountOf(atMost) ?? 0n),
      },
      ...{ scope: scopeOf(per, caller), items: tools.map((id) => itemOf(of, id)), since: facts.at - withinMs },
    })),
  );
}

/** What `at_most` of a rule on history beyond the run counts, as a total. */
function atMostOf(
  history: AvailabilityRule['history'],
): readonly (Omit<TotalLimit, 'per'> & { readonly per: PastScope })[] {
  if (history?.past === undefined || history.atMost === null) return [];
  const { past, atMost } = history;
  return [{ of: 'calls', atMost, per: past.within, withinMs: past.inLastMs }];
}
