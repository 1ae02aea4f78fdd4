import { budgetStates, modelReservation, modelUse, spanBudgetEnd } from '@sluice/core';
import type {
  Clock,
  Evaluator,
  ModelSettings,
  PastCaller,
  PastCalls,
  RunEnd,
  SpanBudget,
  TurnTokens,
} from '@sluice/core';
import type { BudgetState } from '@sluice/contracts';

/** The budgets with a span that a model call is held against, and whose call it is. */
export interface BudgetParts {
  readonly spans: readonly SpanBudget[];
  readonly caller: PastCaller;
  /** Names the calls for ever, so that another attempt finds what it reserved. */
  readonly name: string;
  /** What tokens of a model without a price cost. */
  readonly first: Pick<ModelSettings, 'price'>;
}

/** A model call that may be made. */
export interface ReservedModelCall {
  readonly kind: 'reserved';
  /** What stood in each budget before. */
  readonly budgets: readonly BudgetState[];
  /** Counts what it used, and gives the rest back. */
  used(tokens: TurnTokens): Promise<void>;
  /** Gives all back: the model took no turn. */
  unused(): Promise<void>;
}

/** A model call for which a budget has no room. */
export interface BudgetRefusal {
  readonly kind: 'refused';
  readonly budgets: readonly BudgetState[];
  readonly end: RunEnd;
  /** The place of the first of them that has none. */
  readonly limit: number;
}

/** How long a call counts as under way; its reservation stays as long as the span. */
const runningMs = 600_000;

const free: ReservedModelCall = {
  kind: 'reserved',
  budgets: [],
  used: () => Promise.resolve(),
  unused: () => Promise.resolve(),
};

/**
 * Reserves the most that a model call may use, before it is made. An attempt at the same work that ended in the middle
 * of a call has reserved it already; calls that were answered then count on, and this is one more.
 */
export async function reserveModelCall(
  { spans, caller, name, first }: BudgetParts,
  settings: ModelSettings,
  bound: () => Promise<TurnTokens>,
  { past, clock }: { readonly past: PastCalls; readonly clock: Clock },
): Promise<ReservedModelCall | BudgetRefusal> {
  // The model of rules uses none.
  if (spans.length === 0 || settings.provider === 'rules') return free;
  const price = settings.price ?? first.price;
  const now = clock.now();
  const reservation = modelReservation(spans, { tokens: await bound(), price }, caller, now);
  for (let n = 0; ; n++) {
    const callKey = `${name}/${String(n)}`;
    const answer = await past.begin({ callKey, claim: null, now, runningMs, ...reservation });
    if (answer.kind === 'held') throw new Error('A model call without a claim is held by no one.');
    if (answer.kind === 'begun') {
      if (answer.hasEnded === true) continue;
      return {
        kind: 'reserved',
        budgets: budgetStates(reservation.limits, answer.used),
        used: (tokens) => past.end(callKey, 'succeeded', modelUse({ tokens, price })),
        unused: () => past.end(callKey, 'none'),
      };
    }
    const limit = reservation.limits[answer.limit];
    const blocking = limit === undefined ? null : await past.blockedBy(limit);
    const opensAt = limit === undefined || blocking === null ? null : blocking + limit.budget.withinMs;
    const budgets = budgetStates(reservation.limits, answer.used, { limit: answer.limit, opensAt });
    const end = spanBudgetEnd(spans, budgets);
    if (end === null) throw new Error('A budget refused a model call that it has room for.');
    return { kind: 'refused', budgets, end, limit: answer.limit };
  }
}

/** The budgets of a configuration for the calls of this caller. */
export function budgetPartsOf(
  { configuration: { policy, model } }: Pick<Evaluator, 'configuration'>,
  caller: PastCaller,
  name: string,
): BudgetParts {
  return { spans: policy.budgets.spans ?? [], caller, name, first: model };
}
