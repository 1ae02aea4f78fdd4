import { argumentsInWords } from '../bounds/compile-bounds.js';
import { pastInWords, totalSpanInWords } from '../past/words.js';
import type { TotalLimit } from '../past/types.js';
import { printable } from '../printable.js';
import { sentenceList } from '../quote.js';
import { measureName } from './load.js';
import type {
  AvailabilityRule,
  ContextCondition,
  HistoryCondition,
  LoadCondition,
  RuleKind,
  TimeCondition,
  Whom,
} from './types.js';

/** Names of a list that a sentence holds. */
const shownNames = 10;
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** What the conditions of a kind say. `keyOf` gives the key of a tool by its id. */
type InWords = (rule: AvailabilityRule, keyOf: (id: string) => string) => readonly string[];

const inWords: Readonly<Record<RuleKind, InWords>> = {
  context: ({ when, unless }) => [
    ...(when === undefined ? [] : [`Available when ${contextInWords(when)}.`]),
    ...(unless === undefined ? [] : [`Not available when ${contextInWords(unless)}.`]),
  ],
  time: ({ time }) => (time === undefined ? [] : [`Available ${timeInWords(time)}.`]),
  load: ({ load }) => (load === undefined ? [] : [loadInWords(load)]),
  history: ({ history }, keyOf) => (history === undefined ? [] : historyInWords(history, keyOf)),
};

/**
 * A rule in words: a sentence for each condition, all of which must hold for its tools to be available. `keyOf` gives
 * the key of a tool by its id.
 */
export function ruleInWords(rule: AvailabilityRule, keyOf: (id: string) => string): readonly string[] {
  return [
    ...(rule.whom === undefined ? [] : [`Binds a request where ${whomInWords(rule.whom)}.`]),
    ...Object.values(inWords).flatMap((words) => words(rule, keyOf)),
    ...(rule.totals ?? []).map(totalInWords),
    ...argumentsInWords(rule.arguments ?? {}).map(
      ({ argument, words }) => `Of a call, the argument ${printable(argument)} ${words.join(' and ')}.`,
    ),
  ];
}

/** The same for the conditions of one kind. */
export function conditionsInWords(
  rule: AvailabilityRule,
  kind: RuleKind,
  keyOf: (id: string) => string,
): readonly string[] {
  return inWords[kind](rule, keyOf);
}

/** Which requests a rule binds: `the tenant is acme and the request came over mcp`. */
export function whomInWords({ agents, ...whom }: Whom): string {
  const facts = contextInWords(whom);
  const agent = agents === undefined ? [] : [`the agent is ${anyOf(agents)}`];
  return [...(facts === '' ? [] : [facts]), ...agent].join(' and ');
}

function totalInWords(limit: TotalLimit): string {
  const most = `At most ${String(limit.atMost)}`;
  const what = limit.of === 'calls' ? 'calls of its tools' : `as the sum of the argument ${limit.of.path}`;
  return `${most} ${what} ${totalSpanInWords(limit)}.`;
}

function contextInWords(condition: ContextCondition): string {
  const { tenants, actors, channels, claims = {}, states, languages, questionBytes } = condition;
  const facts = [
    ...(tenants === undefined ? [] : [`the tenant is ${anyOf(tenants)}`]),
    ...(actors === undefined ? [] : [`the caller is of the kind ${anyOf(actors)}`]),
    ...(channels === undefined ? [] : [`the request came over ${anyOf(channels)}`]),
    ...Object.entries(claims).map(([name, values]) => `the claim ${name} is ${anyOf(values)}`),
    ...(states === undefined ? [] : [`the state is ${anyOf(states)}`]),
    ...(languages === undefined ? [] : [`the question’s language is ${anyOf(languages)}`]),
    ...(questionBytes === undefined ? [] : [`the question has at most ${String(questionBytes)} bytes`]),
  ];
  return facts.join(' and ');
}

function anyOf(names: readonly string[]): string {
  if (names.length === 0) return 'one of none';
  if (names.length > shownNames) return `one of ${sentenceList(names, shownNames)}`;
  return [...names.slice(0, -2), names.slice(-2).join(' or ')].join(', ');
}

function timeInWords({ zone, days, from, until, holidays }: TimeCondition): string {
  const isDaily = days.length === weekdays.length;
  const on = isDaily ? 'every day' : `on ${sentenceList(days.map((day) => weekdays[day] ?? String(day)))}`;
  const isWhole = from === 0 && until === 24 * 60;
  const hours = isWhole ? 'all day' : `from ${clock(from)} to ${clock(until)}${until < from ? ' of the next day' : ''}`;
  const but = holidays.length === 0 ? '' : `, but for ${sentenceList(holidays, shownNames)}`;
  return `${on} ${hours} in the time zone ${zone}${but}`;
}

function clock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

function loadInWords({ measure, isHighClosing, close, open }: LoadCondition): string {
  const [closing, opening] = isHighClosing ? ['above', 'at or below'] : ['below', 'at or above'];
  const again = open === close ? '' : `, and available again once it is ${opening} ${String(open)}`;
  return `Not available while ${measureName(measure)} is ${closing} ${String(close)}${again}.`;
}

function historyInWords(
  { past, after, notAfter, atMost, whileApproved, afterSuccessLast = [], notWhileRunning = [] }: HistoryCondition,
  keyOf: (id: string) => string,
): readonly string[] {
  const keys = (ids: readonly string[]): string => sentenceList(ids.map(keyOf), shownNames);
  const where = past === undefined ? 'in the run' : pastInWords(past);
  const each = past === undefined ? 'in a run' : where;
  return [
    ...(after.length === 0 ? [] : [`Available after ${keys(after)} succeeded ${where}.`]),
    ...(notAfter.length === 0 ? [] : [`Not available after a call of ${keys(notAfter)} ${where}.`]),
    ...(atMost === null ? [] : [`At most ${String(atMost)} ${atMost === 1 ? 'call' : 'calls'} of its tools ${each}.`]),
    ...(afterSuccessLast.length === 0
      ? []
      : [`Available while the last call of ${keys(afterSuccessLast)} ${where} is one that succeeded.`]),
    ...(notWhileRunning.length === 0 ? [] : [`Not available while a call of ${keys(notWhileRunning)} runs ${where}.`]),
    ...(whileApproved.length === 0
      ? []
      : [`Available while the approval of a call of ${keys(whileApproved)} in the run stands.`]),
  ];
}
