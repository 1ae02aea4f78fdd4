import type { BudgetState } from '@sluice/records';
import type { RunEnd } from '../run/agent-run.js';
import { costOf } from '../run/cost.js';
import type { TurnTokens } from '../ports/model.js';
import type { PastLimit, PastMark } from '../ports/past-calls.js';
import type { ModelPrice } from '../settings/model-types.js';
import type { SpanBudget } from '../settings/policy-types.js';
import { amountFrom, amountOf, decimalOf, oneAmount } from './amounts.js';
import { scopeOf } from './scope.js';
import type { PastCaller } from './types.js';
import { spanInWords, totalSpanInWords } from './words.js';

/** What a budget with a span counts: tokens, or US dollars. */
type BudgetUnit = 'tokens' | 'usd';

/** A budget that a model call is held against. */
interface BudgetLimit extends PastLimit {
  readonly unit: BudgetUnit;
  readonly budget: SpanBudget;
}

/** What a model call reserves before it is made. */
interface ModelReservation {
  readonly marks: readonly PastMark[];
  readonly limits: readonly BudgetLimit[];
  readonly keepMs: number;
}

/** What counts the call: how much it may use at most, and at which price; undefined where the model has none. */
interface ModelBound {
  readonly tokens: TurnTokens;
  readonly price: ModelPrice | undefined;
}

const itemOfUnit: Readonly<Record<BudgetUnit, string>> = { tokens: 'model/tokens', usd: 'model/usd' };

/** What the call reserves: the most that it may use, in each scope that a budget counts. */
export function modelReservation(
  budgets: readonly SpanBudget[],
  bound: ModelBound,
  caller: PastCaller,
  at: number,
): ModelReservation {
  const limits = budgets.flatMap((budget) =>
    unitsOf(budget).map((unit): BudgetLimit => {
      const scope = scopeOf(budget.per, caller);
      const counted = { scope, items: [itemOfUnit[unit]], since: at - budget.withinMs, isRunningOnly: false };
      return { ...counted, adds: usedAmount(unit, bound), atMost: atMostOf(budget, unit), unit, budget };
    }),
  );
  const marks = limits.map(({ scope, unit, adds }): PastMark => ({ scope, item: itemOfUnit[unit], amount: adds }));
  return {
    marks: [...new Map(marks.map((mark) => [JSON.stringify([mark.scope, mark.item]), mark])).values()],
    limits,
    keepMs: Math.max(0, ...budgets.map(({ withinMs }) => withinMs)),
  };
}

/** By item, what the call used: it takes the place of what was reserved. */
export function modelUse(used: ModelBound): Readonly<Record<string, bigint>> {
  return { [itemOfUnit.tokens]: usedAmount('tokens', used), [itemOfUnit.usd]: usedAmount('usd', used) };
}

/** What stood in each budget before the call, for its record. `opensAt` is of the one that refused it. */
export function budgetStates(
  limits: readonly BudgetLimit[],
  used: readonly bigint[],
  refused: { readonly limit: number; readonly opensAt: number | null } | null = null,
): readonly BudgetState[] {
  return limits.map(({ budget: { per, withinMs }, unit, adds }, place) => ({
    ...{ per, withinMs, unit, used: decimalOf(used[place] ?? 0n), adds: decimalOf(adds) },
    opensAt: refused?.limit === place ? refused.opensAt : null,
  }));
}

/**
 * Why the run ends before its model is asked, by what is recorded; null where the budgets have room for the call, and
 * of one of which nothing is recorded.
 */
export function spanBudgetEnd(budgets: readonly SpanBudget[], states: readonly BudgetState[]): RunEnd | null {
  for (const budget of budgets)
    for (const unit of unitsOf(budget)) {
      const state = states.find(
        (one) => one.per === budget.per && one.withinMs === budget.withinMs && one.unit === unit,
      );
      const [used, adds] = [amountFrom(state?.used ?? ''), amountFrom(state?.adds ?? '')];
      if (state === undefined || used === null || adds === null) continue;
      const most = atMostOf(budget, unit);
      if (used + adds > most)
        return {
          code: 'span_budget_exceeded',
          message: messageOf(budget, unit, { used, adds, most, opensAt: state.opensAt }),
        };
    }
  return null;
}

interface Exceeded {
  readonly used: bigint;
  readonly adds: bigint;
  readonly most: bigint;
  readonly opensAt: number | null;
}

function messageOf(budget: SpanBudget, unit: BudgetUnit, { used, adds, most, opensAt }: Exceeded): string {
  const words = (amount: bigint): string => inUnit(amount, unit);
  const span = totalSpanInWords(budget);
  if (adds > most)
    return `The model call may use ${words(adds)}, which is more than the whole budget of ${words(most)} ${span}: ask for less, lower max_output_tokens of the model, or raise the budget.`;
  const opens = opensAt === null ? '' : ` It has room again at ${new Date(opensAt).toISOString()}.`;
  return `The budget of ${words(most)} ${span} has no room for the model call, which may use ${words(adds)}: ${words(used)} are used or reserved.${opens}`;
}

function unitsOf({ tokens, microUsd }: SpanBudget): readonly BudgetUnit[] {
  return [...(tokens === undefined ? [] : ['tokens' as const]), ...(microUsd === undefined ? [] : ['usd' as const])];
}

function atMostOf({ tokens = 0, microUsd = 0 }: SpanBudget, unit: BudgetUnit): bigint {
  return unit === 'tokens' ? BigInt(tokens) * oneAmount : BigInt(microUsd);
}

/** In millionths, rounded up. Without a price nothing is known of the cost: the compiler asks for one. */
function usedAmount(unit: BudgetUnit, { tokens, price }: ModelBound): bigint {
  const amount =
    unit === 'tokens'
      ? tokens.inputTokens + tokens.outputTokens
      : price === undefined
        ? 0
        : costOf(tokens, price) / 1e6;
  return amountOf(amount) ?? 0n;
}

/** `The model calls of a user may use 100000 tokens and 5 US dollars within 1d.` */
export function spanBudgetInWords(budget: SpanBudget): string {
  const { per, withinMs } = budget;
  const amounts = unitsOf(budget).map((unit) => inUnit(atMostOf(budget, unit), unit));
  const whose = per === 'agent' ? 'an agent' : `a ${per}`;
  return `The model calls of ${whose} may use ${amounts.join(' and ')} within ${spanInWords(withinMs)}.`;
}

function inUnit(amount: bigint, unit: BudgetUnit): string {
  return `${decimalOf(amount)} ${unit === 'tokens' ? 'tokens' : 'US dollars'}`;
}
