import { amountOf, durationMs, largestAmount, partsOfPath, quote, totalScopes } from '@sluice/core';
import type { TotalLimit } from '@sluice/core';
import { configurationKeys } from './keys.js';
import { Section } from './section.js';

/** The longest span that calls are kept for. */
const longestSpanMs = 90 * 86_400_000;
/** Totals of one rule: a call is held against each. */
const mostTotals = 8;

/** `totals` of a rule: what the calls of its tools may add up to within a sliding span. */
export function readTotals(section: Section): readonly TotalLimit[] | undefined {
  const items = section.items('totals', 'a list of totals');
  if (items === null) return undefined;
  if (items.length === 0) section.problem(section.at('totals'), 'an empty list', 'the totals, or leave it out');
  if (items.length > mostTotals)
    section.problem(section.at('totals'), `${String(items.length)} totals`, `at most ${String(mostTotals)}`);
  return items.map((item, at) => readTotal(new Section(item, section.itemAt('totals', at), section.problems)));
}

function readTotal(own: Section): TotalLimit {
  own.closed(configurationKeys['rules.<rule>.totals[]']);
  const of = own.text('of', '`calls`, or the path of an argument');
  if (of === null && own.usable && !own.has('of'))
    own.problem(own.at('of'), 'nothing', '`calls`, or the path of an argument whose numbers are summed');
  if (of !== null && partsOfPath(of).includes(''))
    own.problem(own.at('of'), `the path ${quote(of)}`, 'names with `/` between, such as `items/*/price`');
  return {
    of: of === null || of === 'calls' ? 'calls' : { path: of },
    atMost: readAmount(own, 'at_most'),
    per: own.choice('per', totalScopes) ?? required(own, 'per', 'user', `one of ${totalScopes.join(', ')}`),
    withinMs: own.has('within')
      ? readSpan(own, 'within')
      : required(own, 'within', 1_000, 'a span such as `1h` or `1d`'),
  };
}

function readAmount(own: Section, key: string): number {
  const value = own.value(key);
  const write = `a number from 0 to ${String(largestAmount)}`;
  if (value === null) return required(own, key, 0, write);
  if (amountOf(value) !== null) return value as number;
  own.refuse(key, write);
  return 0;
}

/** A span of the past, in milliseconds. */
export function readSpan(section: Section, key: string): number {
  const ms = Math.round(durationMs(section.value(key)));
  if (ms >= 1_000 && ms <= longestSpanMs) return ms;
  section.refuse(key, 'a span from `1s` to `90d`, such as `30m`, `1h` or `1d`');
  return 1_000;
}

function required<T>(own: Section, key: string, instead: T, write: string): T {
  if (own.usable && !own.has(key)) own.problem(own.at(key), 'nothing', write);
  return instead;
}
