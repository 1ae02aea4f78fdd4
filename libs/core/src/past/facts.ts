import type { AvailabilityRule, HistoryCondition, RuleFacts } from '../availability/types.js';
import { isJsonText } from '../json.js';
import type { PastCount } from '../ports/past-calls.js';
import type { PastSpan } from './types.js';

/** What is to be found out about a tool’s calls of the past. */
export interface NeededPast extends PastSpan {
  readonly toolId: string;
}

/** The calls of a tool within a span, as a record has them. */
interface PastFact {
  readonly count: number;
  readonly succeeded: number;
  readonly running: number;
  readonly last: string | null;
}

/** What a record calls it. */
export function pastFactName({ within, inLastMs, toolId }: NeededPast): string {
  return `past/${within}/${String(inLastMs)}/${toolId}`;
}

/** Whether the fact of this name counts calls of other callers too: of a tenant, or of an agent. */
export function countsOthers(name: string): boolean {
  return /^(?:past\/tenant|total\/(?:tenant|agent))\//.test(name);
}

export function pastFactText({ calls: count, succeeded, running, last }: Omit<PastCount, 'amount'>): string {
  return JSON.stringify({ count, succeeded, running, last });
}

/** What rules on history have to know of calls beyond a run’s record, each once. */
export function neededPastOf(rules: readonly Pick<AvailabilityRule, 'history' | 'tools'>[]): readonly NeededPast[] {
  const asked = rules.flatMap(({ history, tools }) =>
    history?.past === undefined
      ? []
      : toolsIn(history, tools).map((toolId) => ({ ...history.past, toolId }) as NeededPast),
  );
  return [...new Map(asked.map((one) => [pastFactName(one), one])).values()];
}

/** The tools whose calls a rule on history looks at. */
export function toolsIn(
  { after, notAfter, atMost, afterSuccessLast = [], notWhileRunning = [] }: HistoryCondition,
  tools: readonly string[],
): readonly string[] {
  return [...after, ...notAfter, ...afterSuccessLast, ...notWhileRunning, ...(atMost === null ? [] : tools)];
}

/** Whether the calls within the span leave the rule’s tools a call. What is not known does not. */
export function isPastOpen(
  { after, notAfter, atMost, afterSuccessLast = [], notWhileRunning = [] }: HistoryCondition,
  span: PastSpan,
  tools: readonly string[],
  { facts }: Pick<RuleFacts, 'facts'>,
): boolean {
  const holds = (ids: readonly string[], test: (fact: PastFact) => boolean): boolean =>
    ids.every((toolId) => {
      const fact = pastFact(facts, { ...span, toolId });
      return fact !== null && test(fact);
    });
  return (
    holds(after, ({ succeeded }) => succeeded > 0) &&
    holds(notAfter, ({ count }) => count === 0) &&
    holds(afterSuccessLast, ({ last }) => last === 'succeeded') &&
    holds(notWhileRunning, ({ running }) => running === 0) &&
    (atMost === null || isBelow(atMost, span, tools, facts))
  );
}

function isBelow(atMost: number, span: PastSpan, tools: readonly string[], facts: RuleFacts['facts']): boolean {
  let made = 0;
  for (const toolId of tools) {
    const fact = pastFact(facts, { ...span, toolId });
    if (fact === null) return false;
    made += fact.count;
  }
  return made < atMost;
}

function pastFact(facts: RuleFacts['facts'], asked: NeededPast): PastFact | null {
  const name = pastFactName(asked);
  const text = Object.hasOwn(facts, name) ? facts[name] : undefined;
  return text !== undefined && isJsonText(text) ? (JSON.parse(text) as PastFact) : null;
}
