import {
  channels,
  defaultAgent,
  historySpans,
  isTimeZone,
  knownLanguages,
  loadMeasures,
  principalKinds,
  quote,
  suggestion,
} from '@sluice/core';
import type { ContextCondition, HistoryCondition, LoadCondition, PastSpan, TimeCondition, Whom } from '@sluice/core';
import { type IdentifiedTool, toolsByName } from './identities.js';
import { configurationKeys } from './keys.js';
import { readSpan } from './rule-totals.js';
import { describe } from './problems.js';
import type { Section } from './section.js';

/** The most bytes of a question that can be asked for: a record has no room for more. */
const mostQuestionBytes = 1_000_000;
/** The most calls of one run. */
const mostCalls = 10_000;

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/** `when` and `unless`: facts of the request. */
export function readContext(section: Section, key: 'when' | 'unless'): ContextCondition | undefined {
  if (!section.has(key)) return undefined;
  const own = section.section(key).closed(configurationKeys['rules.<rule>.when']);
  const condition: ContextCondition = {
    ...readCaller(own),
    ...given('languages', known(own, 'languages', [...knownLanguages, 'und'])),
    ...(own.has('question_bytes')
      ? { questionBytes: own.wholeNumber('question_bytes', { byDefault: 1, most: mostQuestionBytes }) }
      : {}),
  };
  if (own.usable && Object.keys(condition).length === 0)
    own.problem(own.path, 'no fact of a request', suggestion('', configurationKeys['rules.<rule>.when']));
  return condition;
}

/** `for`: whom a rule binds. */
export function readWhom(
  section: Section,
  tools: readonly IdentifiedTool[],
  named: readonly string[] = [],
): Whom | undefined {
  if (!section.has('for')) return undefined;
  const own = section.section('for').closed(configurationKeys['rules.<rule>.for']);
  const agents = tools.flatMap(({ entry }) => (entry.agent === null ? [] : [entry.key]));
  const whom: Whom = {
    ...readCaller(own),
    ...given('agents', known(own, 'agents', [...new Set([defaultAgent, ...named, ...agents])])),
  };
  if (own.usable && Object.keys(whom).length === 0 && own.keys().length === 0)
    own.problem(own.path, 'no fact of a caller', suggestion('', configurationKeys['rules.<rule>.for']));
  return whom;
}

/** What a condition and `for` both say of who asks, and how. */
function readCaller(own: Section): Omit<Whom, 'agents'> {
  const claims = own.section('claims');
  return {
    ...given('tenants', own.names('tenants', 'the names of the tenants')),
    ...given('actors', known(own, 'actors', principalKinds)),
    ...given('channels', known(own, 'channels', channels)),
    ...(own.has('claims')
      ? { claims: Object.fromEntries(claims.keys().map((name) => [name, claims.names(name, 'its values') ?? []])) }
      : {}),
    ...given('states', own.names('states', 'the names of the states')),
  };
}

/** `time`: a window of a wall clock. */
export function readTime(section: Section): TimeCondition | undefined {
  if (!section.has('time')) return undefined;
  const own = section.section('time').closed(configurationKeys['rules.<rule>.time']);
  const zone = own.text('zone', 'a time zone such as `Europe/Berlin`');
  if (zone === null) {
    if (!own.has('zone') && own.usable)
      own.problem(own.at('zone'), 'no time zone', 'one such as `Europe/Berlin`, or `UTC`');
  } else if (!isTimeZone(zone)) {
    const write = 'the name of a zone in the IANA database, such as `Europe/Berlin` or `UTC`';
    own.problem(own.at('zone'), `the unknown time zone ${quote(zone)}`, write);
  }
  const days = known(own, 'days', weekdays) ?? weekdays;
  const from = readClock(own, 'from', 0);
  const until = readClock(own, 'until', 24 * 60);
  if (from === until)
    own.problem(
      own.at('until'),
      'the time at which the window begins',
      'a later one, or leave out both for the whole day',
    );
  if (days.length === 0) own.problem(own.at('days'), 'an empty list', 'the days, or leave it out for every day');
  return { zone: zone ?? 'UTC', days: days.map((one) => weekdays.indexOf(one)), from, until, holidays: readDates(own) };
}

function readClock(section: Section, key: 'from' | 'until', byDefault: number): number {
  const value = section.value(key);
  if (value === null) return byDefault;
  const [, hours, minutes] = (typeof value === 'string' && /^(\d{2}):(\d{2})$/.exec(value)) || [];
  const time = Number(hours) * 60 + Number(minutes);
  if (Number(minutes) < 60 && time <= 24 * 60) return time;
  section.refuse(key, 'a time of day such as `"08:30"`, up to `"24:00"`, in quotes');
  return byDefault;
}

function readDates(section: Section): readonly string[] {
  const dates = section.names('holidays', 'a list of dates such as `2026-12-25`') ?? [];
  return dates.filter((date, place) => {
    const time = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : NaN;
    // A date that there is not, such as 30 February, is read as another one.
    if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(date)) return true;
    section.problem(section.itemAt('holidays', place), describe(date), 'a date such as `"2026-12-25"`');
    return false;
  });
}

/**
 * `load`: a measure and two thresholds, so that a value that swings about one of them does not open and close with
 * it.
 */
export function readLoad(section: Section): LoadCondition | undefined {
  if (!section.has('load')) return undefined;
  const own = section.section('load').closed(configurationKeys['rules.<rule>.load']);
  const measure = own.choice('measure', loadMeasures);
  const prometheus = own.text('prometheus', 'a query that gives one number');
  if (own.usable && own.has('measure') === own.has('prometheus'))
    own.problem(own.path, 'not exactly one of `measure` and `prometheus`', 'what is measured: one of the two');
  const isHighClosing = own.has('close_above') || !own.has('close_below');
  const [closeKey, openKey] = isHighClosing
    ? (['close_above', 'open_below'] as const)
    : (['close_below', 'open_above'] as const);
  for (const key of isHighClosing ? (['close_below', 'open_above'] as const) : ([] as const))
    if (own.has(key))
      own.problem(own.at(key), `\`${key}\` beside \`${closeKey}\``, `\`${closeKey}\` and \`${openKey}\``);
  if (!isHighClosing && own.has('open_below'))
    own.problem(own.at('open_below'), '`open_below` beside `close_below`', '`close_below` and `open_above`');
  const close = readNumber(own, closeKey);
  if (close === null && own.usable && !own.has(closeKey))
    own.problem(own.path, 'no threshold', '`close_above: <number>` or `close_below: <number>`');
  const open = readNumber(own, openKey) ?? close;
  if (close !== null && open !== null && (isHighClosing ? open > close : open < close)) {
    const write = `a number that is ${isHighClosing ? 'not above' : 'not below'} ${closeKey}, which is ${String(close)}`;
    own.problem(own.at(openKey), String(open), write);
  }
  return {
    measure: measure ?? (prometheus === null ? 'calls_in_flight' : { prometheus }),
    ...{ isHighClosing, close: close ?? 0, open: open ?? 0 },
  };
}

/** `history`: what the run must have done, or must not; with `within`, its session, user or tenant. */
export function readHistory(section: Section, tools: readonly IdentifiedTool[]): HistoryCondition | undefined {
  if (!section.has('history')) return undefined;
  const own = section.section('history').closed(configurationKeys['rules.<rule>.history']);
  const condition = {
    after: readTools(own, 'after', tools),
    notAfter: readTools(own, 'not_after', tools),
    atMost: own.has('at_most') ? own.wholeNumber('at_most', { byDefault: 1, most: mostCalls }) : null,
    whileApproved: readTools(own, 'while_approved', tools),
    ...(own.has('after_success_last') ? { afterSuccessLast: readTools(own, 'after_success_last', tools) } : {}),
    ...(own.has('not_while_running') ? { notWhileRunning: readTools(own, 'not_while_running', tools) } : {}),
  };
  const past = readPast(own);
  if (own.usable && own.keys().every((key) => key === 'within' || key === 'in_last'))
    own.problem(own.path, 'nothing that was done', suggestion('', historyKeys));
  if (past !== undefined && condition.whileApproved.length > 0)
    own.problem(own.at('while_approved'), '`while_approved` with a span', 'a rule of its own that has no span');
  return past === undefined ? condition : { ...condition, past };
}

const historyKeys = configurationKeys['rules.<rule>.history'].filter((key) => key !== 'within' && key !== 'in_last');

/** `within` and `in_last`. What a run’s own record says needs no span. */
function readPast(own: Section): PastSpan | undefined {
  const within = own.choice('within', historySpans) ?? 'run';
  const inLastMs = own.has('in_last') ? readSpan(own, 'in_last') : historyByDefaultMs;
  const isOfRecord =
    within === 'run' && ['in_last', 'after_success_last', 'not_while_running'].every((key) => !own.has(key));
  return isOfRecord ? undefined : { within, inLastMs };
}

/** How far back a rule on history looks that does not say. */
const historyByDefaultMs = 30 * 86_400_000;

/** Keys or ids of tools, as ids. */
export function readTools(section: Section, key: string, tools: readonly IdentifiedTool[]): readonly string[] {
  const byName = toolsByName(tools);
  const names = section.names(key, 'a list of tool keys or ids') ?? [];
  return names.flatMap((name, place) => {
    const tool = byName.get(name);
    if (tool !== undefined) return [tool.id];
    section.unknown(section.itemAt(key, place), 'tool', name, suggestion(name, [...byName.keys()]));
    return [];
  });
}

function readNumber(section: Section, key: string): number | null {
  const value = section.value(key);
  if (value === null) return null;
  return typeof value === 'number' && Number.isFinite(value) ? value : section.refuse(key, 'a number');
}

function known<T extends string>(section: Section, key: string, choices: readonly T[]): readonly T[] | null {
  const names = section.names(key, `a list of ${choices.map((one) => `\`${one}\``).join(', ')}`);
  if (names === null) return null;
  return names.flatMap((name, place) => {
    const choice = choices.find((one) => one === name);
    if (choice !== undefined) return [choice];
    section.problem(section.itemAt(key, place), `the unknown name ${quote(name)}`, suggestion(name, choices));
    return [];
  });
}

function given<K extends string>(key: K, names: readonly string[] | null): { readonly [P in K]?: readonly string[] } {
  return (names === null ? {} : { [key]: names }) as { readonly [P in K]?: readonly string[] };
}
