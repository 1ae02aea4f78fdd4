import { budgetScopes, durationMs, modelName, modelsOf } from '@sluice/core';
import type { Configuration, Finding, SpanBudget } from '@sluice/core';
import { agentRanges, readUsd } from './agent-entry.js';
import { configurationKeys } from './keys.js';
import { Section } from './section.js';

/** The longest span of a budget: a week. */
const longestSpanMs = durationMs('7d');
/** Budgets with a span: a model call is held against each. */
const mostSpans = 8;

const path = 'policy.budgets.spans';

/** `policy.budgets.spans`: what the model calls of all runs may use within sliding spans. */
export function readSpans(section: Section): { readonly spans?: readonly SpanBudget[] } {
  const items = section.items('spans', 'a list of budgets');
  if (items === null || items.length === 0) return {};
  if (items.length > mostSpans)
    section.problem(section.at('spans'), `${String(items.length)} budgets`, `at most ${String(mostSpans)}`);
  const spans = items.map((item, at) => readSpan(new Section(item, section.itemAt('spans', at), section.problems)));
  spans.forEach(({ per, withinMs }, at) => {
    if (spans.findIndex((one) => one.per === per && one.withinMs === withinMs) !== at)
      section.problem(
        section.itemAt('spans', at),
        `a second budget per ${per} within the same span`,
        'one entry, with `tokens` and `usd` where it bounds both',
      );
  });
  return { spans };
}

function readSpan(own: Section): SpanBudget {
  own.closed(configurationKeys['policy.budgets.spans[]']);
  if (own.usable && !own.has('per')) own.problem(own.at('per'), 'nothing', `one of ${budgetScopes.join(', ')}`);
  if (own.usable && !own.has('tokens') && !own.has('usd'))
    own.problem(own.path, 'a budget of nothing', '`tokens`, `usd` or both');
  const microUsd = readUsd(own, 'usd', 'what all model calls within the span may cost');
  return {
    per: own.choice('per', budgetScopes) ?? 'user',
    withinMs: readWithin(own),
    ...(own.has('tokens') ? { tokens: own.wholeNumber('tokens', agentRanges.tokens) } : {}),
    ...(microUsd === null ? {} : { microUsd }),
  };
}

function readWithin(own: Section): number {
  const ms = Math.round(durationMs(own.value('within')));
  if (ms >= 1_000 && ms <= longestSpanMs) return ms;
  const write = 'a span from `1s` to `7d`, such as `1h` or `1d`';
  if (own.usable && !own.has('within')) own.problem(own.at('within'), 'nothing', write);
  else if (own.usable) own.refuse('within', write);
  return 1_000;
}

/** A budget in dollars needs prices: that of the first model stands for those that have none. */
export function checkSpanPrices(
  { policy, ...models }: Pick<Configuration, 'policy' | 'model' | 'fallbacks'>,
  refuse: (path: string, found: string, write: string) => void,
): void {
  const unpriced = modelsOf(models).find(({ provider, price }) => provider !== 'rules' && price === undefined);
  if (unpriced === undefined || models.model.price !== undefined) return;
  policy.budgets.spans?.forEach(({ microUsd }, at) => {
    if (microUsd === undefined) return;
    const write = '`price: { input: …, output: … }` under `model`, in US dollars a million tokens; or leave `usd` out';
    const found = `a budget in dollars and no price of ${modelName(unpriced)} to count by`;
    refuse(`${path}[${String(at)}].usd`, found, write);
  });
}

/** Models whose cost is counted by another one’s price. */
export function findAboutSpans({
  policy,
  model,
  fallbacks = [],
}: Pick<Configuration, 'policy' | 'model' | 'fallbacks'>): readonly Finding[] {
  if (policy.budgets.spans?.some(({ microUsd }) => microUsd !== undefined) !== true) return [];
  return fallbacks.flatMap((one, at): Finding[] => {
    if (one.provider === 'rules' || one.price !== undefined || model.price === undefined) return [];
    const message = `${modelName(one)} has no price, so the budgets in dollars count its tokens at the price of ${modelName(model)}. Give it a price of its own.`;
    return [{ kind: 'no_price', path: `model[${String(at + 1)}].price`, message }];
  });
}
