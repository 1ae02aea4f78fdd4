import type { AvailabilityRule, RuleFacts } from '../availability/types.js';
import { binds } from '../availability/conditions.js';
import { partsOfPath, valuesAt } from '../bounds/values-at.js';
import { withSchemaDefaults } from '../bounds/schema-defaults.js';
import type { JsonValue } from '../json.js';
import type { PastLimit, PastMark } from '../ports/past-calls.js';
import { quote } from '../quote.js';
import type { Verdict } from '../tool/pipeline.js';
import type { Configuration } from '../settings/configuration.js';
import { amountOf, decimalOf, largestAmount, oneAmount, sumOf } from './amounts.js';
import { type NeededPast, neededPastOf, toolsIn } from './facts.js';
import { nameOfTools } from './name-of-tools.js';
import { itemOf, scopeOf } from './scope.js';
import { type CountedSpan, countedSpans } from './spans.js';
import type { PastCaller, PastScope, TotalLimit } from './types.js';
import { totalSpanInWords } from './words.js';

/** A limit that a call is held against as it begins, and the rule that says so. */
interface RuleLimit extends PastLimit {
  readonly rule: string;
  /** Of a total: what it is, and what a record calls the amount that was used before. Null for a rule on history. */
  readonly total: { readonly limit: TotalLimit; readonly fact: string } | null;
}

/** What is written of a call as it begins, and what it is held against. */
export interface Reservation {
  readonly marks: readonly PastMark[];
  readonly limits: readonly RuleLimit[];
  /** How long the longest span counts it. */
  readonly keepMs: number;
}

/** An argument whose numbers a rule sums, and that has none. */
interface Uncountable {
  readonly rule: string;
  readonly path: string;
}

/** A call as it begins; `args` have been validated. */
export interface BeginningCall {
  readonly toolId: string;
  readonly args: JsonValue;
  readonly caller: PastCaller;
  readonly state: string;
}

/** The rules of a configuration that count calls beyond their run. */
export interface PastRules {
  readonly hasTotals: boolean;
  /** What the rules on history have to know before a decision; of a tool alone, those about it. */
  asked(toolId?: string): readonly NeededPast[];
  /** Whether calls of the tool are counted. */
  counts(toolId: string): boolean;
  /** What a record calls the amounts that were used before a call of the tool: of each total that is about it. */
  totalFacts(toolId: string): readonly string[];
  /** What the rules count of calls of the tool, and up to what. */
  spans(call: Omit<BeginningCall, 'args'>, facts: RuleFacts): readonly CountedSpan[];
  /** What the call reserves, or why it cannot be counted; null where no rule counts it. */
  reservation(call: BeginningCall, facts: RuleFacts): Reservation | Uncountable | null;
}

/** What is counted of a tool’s calls: by whom, and how long. */
interface Counted {
  readonly of: 'calls' | { readonly path: string };
  readonly scope: PastScope;
  readonly keepMs: number;
  /** The rule that sums it, for a refusal. */
  readonly rule: string;
}

type Counting = Pick<Configuration, 'tools' | 'rules'>;

/** Makes the rules ready, once per configuration version. */
export function compilePast({ tools, rules = [] }: Counting): PastRules {
  const all = neededPastOf(rules);
  const byTool = new Map(tools.map(({ id }) => [id, neededPastOf(rules.filter((rule) => rule.tools.includes(id)))]));
  const counted = new Map(tools.map(({ id }) => [id, countedOf(id, rules)]));
  const schemas = new Map(tools.map(({ id, spec }) => [id, spec?.inputSchema]));
  return {
    hasTotals: rules.some(({ totals }) => totals !== undefined),
    counts: (toolId) => (counted.get(toolId) ?? []).length > 0,
    totalFacts: (toolId) =>
      rules
        .filter((rule) => rule.tools.includes(toolId))
        .flatMap((rule) => (rule.totals ?? []).map((limit) => totalFactName(limit, rule.tools))),
    spans: (call, facts) => countedSpans(rules, call, facts),
    asked: (toolId) => (toolId === undefined ? all : (byTool.get(toolId) ?? [])),
    reservation(call, facts) {
      const { toolId, state, caller } = call;
      const own = counted.get(toolId) ?? [];
      const binding = rules.filter((rule) => rule.tools.includes(toolId) && binds(rule.whom, facts, state));
      if (own.length === 0 && !binding.some(({ history, totals }) => history?.past ?? totals)) return null;
      const args = withSchemaDefaults(schemas.get(toolId), call.args);
      const amounts = new Map<string, bigint>();
      for (const { of, rule } of own) {
        const amount = of === 'calls' ? oneAmount : sumAt(args, of.path);
        // A rule that does not bind this caller asks nothing of the arguments.
        if (amount === null && of !== 'calls' && binding.some(({ name }) => name === rule))
          return { rule, path: of.path };
        amounts.set(itemOf(of, toolId), amount ?? 0n);
      }
      const marks = own.map(({ of, scope }): PastMark => {
        const item = itemOf(of, toolId);
        return { scope: scopeOf(scope, caller), item, amount: amounts.get(item) ?? 0n };
      });
      const limits = binding.flatMap((rule) => limitsOf(rule, { toolId, caller, amounts, at: facts.at }));
      return { marks: onceEach(marks), limits, keepMs: Math.max(0, ...own.map(({ keepMs }) => keepMs)) };
    },
  };
}

/** The marks of a call under several configurations, each once. */
function onceEach(marks: readonly PastMark[]): readonly PastMark[] {
  return [...new Map(marks.map((mark) => [JSON.stringify([mark.scope, mark.item]), mark])).values()];
}

/** What a call reserves under both configurations. */
export function together(one: Reservation | null, other: Reservation | null): Reservation | null {
  if (one === null || other === null) return one ?? other;
  return {
    marks: onceEach([...one.marks, ...other.marks]),
    limits: [...one.limits, ...other.limits],
    keepMs: Math.max(one.keepMs, other.keepMs),
  };
}

function countedOf(toolId: string, rules: readonly AvailabilityRule[]): readonly Counted[] {
  return rules.flatMap(({ name: rule, tools, history, totals = [] }) => {
    const past = history?.past;
    const ofHistory: Counted[] =
      past !== undefined && toolsIn(history as NonNullable<typeof history>, tools).includes(toolId)
        ? [{ of: 'calls', scope: past.within, keepMs: past.inLastMs, rule }]
        : [];
    const ofTotals = tools.includes(toolId)
      ? totals.map(({ of, per, withinMs }): Counted => ({ of, scope: per, keepMs: withinMs, rule }))
      : [];
    return [...ofHistory, ...ofTotals];
  });
}

interface Limited {
  readonly toolId: string;
  readonly caller: PastCaller;
  readonly amounts: ReadonlyMap<string, bigint>;
  readonly at: number;
}

function limitsOf({ name: rule, tools, history, totals = [] }: AvailabilityRule, of: Limited): readonly RuleLimit[] {
  const { toolId, caller, amounts, at } = of;
  const ofTotals = totals.map((limit): RuleLimit => {
    const adds = amounts.get(itemOf(limit.of, toolId)) ?? 0n;
    const items = tools.map((id) => itemOf(limit.of, id));
    const span = { scope: scopeOf(limit.per, caller), since: at - limit.withinMs, isRunningOnly: false };
    return {
      ...{ rule, items, adds },
      ...span,
      atMost: amountOf(limit.atMost) ?? 0n,
      total: { limit, fact: totalFactName(limit, tools) },
    };
  });
  if (history?.past === undefined) return ofTotals;
  // Of what was looked at as the call began, calls side by side may have changed since.
  const { past, notAfter, atMost, notWhileRunning = [] } = history;
  const common = { rule, scope: scopeOf(past.within, caller), since: at - past.inLastMs, total: null };
  const calls = (ids: readonly string[]) => ids.map((id) => itemOf('calls', id));
  const none = { ...common, adds: 0n, atMost: 0n };
  return [
    ...ofTotals,
    ...(notAfter.length === 0 ? [] : [{ ...none, items: calls(notAfter), isRunningOnly: false }]),
    ...(notWhileRunning.length === 0 ? [] : [{ ...none, items: calls(notWhileRunning), isRunningOnly: true }]),
    ...(atMost === null
      ? []
      : [
          { ...common, items: calls(tools), isRunningOnly: false, adds: oneAmount, atMost: BigInt(atMost) * oneAmount },
        ]),
  ];
}

/** Names exactly what was counted, so that a rule with another span or other tools does not go by it. */
function totalFactName({ of, per, withinMs }: TotalLimit, tools: readonly string[]): string {
  const what = of === 'calls' ? 'calls' : `sum/${of.path}`;
  return `total/${per}/${String(withinMs)}/${what}/${nameOfTools(tools)}`;
}

function sumAt(args: JsonValue, path: string): bigint | null {
  const parts = partsOfPath(path);
  const { values, isAstray } = valuesAt(args, parts);
  if (isAstray || (values.length === 0 && !parts.includes('*'))) return null;
  return sumOf(values);
}

/** Why a call that cannot be counted is refused, in words. */
export function uncountableMessage({ rule, path }: Uncountable): string {
  return `The rule ${quote(rule)} sums the argument ${path}, which has no number from 0 to ${String(largestAmount)} in this call. Give one and call again, or go on without the call.`;
}

/** The refusal of a call that passes a total; null for a limit of another kind. */
export function passedTotal(limit: RuleLimit | undefined, used: bigint): (Verdict & { readonly ok: false }) | null {
  if (limit?.total == null) return null;
  const message = totalUsedMessage(limit, limit.total.limit, used);
  return { ok: false, code: 'policy_denied', reason: 'total_used', rule: limit.rule, message };
}

/** Whether the totals would refuse the call, by what was used of each; undefined for what is not known. */
export function foreseen({ limits }: Reservation, used: readonly (bigint | undefined)[]): Verdict {
  for (const [place, limit] of limits.entries()) {
    const before = used[place];
    if (limit.total === null || before === undefined || before + limit.adds <= limit.atMost) continue;
    return passedTotal(limit, before) ?? { ok: true };
  }
  return { ok: true };
}

/** What is used, and what is left, in words; not where it is the use of others, which is not the caller’s to know. */
function totalUsedMessage({ rule, adds, atMost }: RuleLimit, limit: TotalLimit, used: bigint): string {
  const span = totalSpanInWords(limit);
  if (limit.per === 'tenant' || limit.per === 'agent') {
    const what = limit.of === 'calls' ? 'calls of its tools' : `as the sum of the argument ${limit.of.path}`;
    const advice = limit.of === 'calls' ? 'Call it later' : 'Use less, call it later';
    return `The rule ${quote(rule)} allows at most ${decimalOf(atMost)} ${what} ${span}, which this call would pass. ${advice}, or go on without the call.`;
  }
  const left = atMost > used ? atMost - used : 0n;
  if (limit.of === 'calls')
    return `The rule ${quote(rule)} allows at most ${decimalOf(atMost)} calls of its tools ${span}, and ${decimalOf(used)} were made. Call it later, or go on without the call.`;
  const advice = left === 0n ? 'Call it later' : `Use at most ${decimalOf(left)}, call it later`;
  return `The rule ${quote(rule)} allows at most ${decimalOf(atMost)} as the sum of the argument ${limit.of.path} ${span}: ${decimalOf(used)} were used, and this call adds ${decimalOf(adds)}. ${advice}, or go on without the call.`;
}
