import { isElsewhere, isJsonObject, linearPattern, longestPattern, partsOfPath, quote, suggestion } from '@sluice/core';
import type {
  ArgumentBound,
  ArgumentBounds,
  ConfiguredTool,
  JsonValue,
  Lists,
  Problem,
  ValueSource,
} from '@sluice/core';
import { configurationKeys } from './keys.js';
import { readValues, scalarOf } from './lists.js';
import { argumentNames, hasPath } from './argument-paths.js';
import { formatProblems } from './problems.js';
import { Section } from './section.js';

/** Arguments that are bounded at one place, and characters or items that one can have. */
const mostPaths = 64;
const mostLength = 10_000_000;

/**
 * `arguments` of a rule or an entry: by path, what an argument may be. Within bounds that open something every argument
 * must be given but those with `required: false`.
 */
export function readBounds(
  section: Section,
  lists: Lists,
  key = 'arguments',
  isOpening = false,
): ArgumentBounds | undefined {
  if (!section.has(key)) return undefined;
  const own = section.section(key);
  const paths = own.keys();
  if (own.usable && paths.length === 0) own.problem(own.path, 'no argument', 'the arguments with their bounds');
  if (paths.length > mostPaths)
    own.problem(own.path, `${String(paths.length)} arguments`, `at most ${String(mostPaths)}`);
  for (const path of paths)
    if (partsOfPath(path).includes(''))
      own.problem(own.at(path), `the path ${quote(path)}`, 'names with `/` between, such as `recipient/mail`');
  return Object.fromEntries(paths.map((path) => [path, readBound(own.section(path), lists, isOpening)]));
}

function readBound(section: Section, lists: Lists, isOpening: boolean): ArgumentBound {
  section.closed(configurationKeys['rules.<rule>.arguments.<path>']);
  const number = (key: 'minimum' | 'maximum' | 'above' | 'below'): number | undefined => readNumber(section, key);
  const length = (key: 'min_length' | 'max_length'): number | undefined =>
    section.has(key) ? section.wholeNumber(key, { byDefault: 0, least: 0, most: mostLength }) : undefined;
  const constant = readConstant(section);
  const bound: ArgumentBound = {
    ...given('constant', constant === undefined ? undefined : { value: constant }),
    ...given('oneOf', readSource(section, 'one_of', lists)),
    ...given('notOneOf', readSource(section, 'not_one_of', lists)),
    ...given('minimum', number('minimum')),
    ...given('maximum', number('maximum')),
    ...given('above', number('above')),
    ...given('below', number('below')),
    ...given('pattern', readPattern(section)),
    ...given('minLength', length('min_length')),
    ...given('maxLength', length('max_length')),
    ...given('hosts', readHosts(section)),
    ...given('absent', readTrue(section, 'absent')),
    ...given('required', isOpening ? (section.flag('required') ?? undefined) : readTrue(section, 'required')),
  };
  if (section.usable && Object.keys(bound).length === 0 && section.keys().length === 0)
    section.problem(section.path, 'no bound', suggestion('', configurationKeys['rules.<rule>.arguments.<path>']));
  refuseImpossible(section, bound);
  return bound;
}

function readConstant(section: Section): JsonValue | undefined {
  if (!section.has('const')) return undefined;
  const scalar = scalarOf(section.value('const'));
  if (scalar === null) section.refuse('const', 'a text, a number, `true` or `false`');
  return scalar ?? undefined;
}

function readNumber(section: Section, key: string): number | undefined {
  const value = section.value(key);
  if (value === null) return undefined;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  section.refuse(key, 'a number');
  return undefined;
}

function readPattern(section: Section): string | undefined {
  const pattern = section.text('pattern', 'a regular expression');
  if (pattern === null) return undefined;
  if (linearPattern(pattern, true) !== null) return pattern;
  const write = `a regular expression of RE2: no look-around, no back-references, at most ${String(longestPattern)} characters and small repetition counts`;
  section.refuse('pattern', write);
  return undefined;
}

const hostForm = /^(?:(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/i;

function readHosts(section: Section): readonly string[] | undefined {
  const write = 'a host such as `example.org`, or `*.example.org` for those below it, without scheme and port';
  const hosts = section.names('hosts', `a list: ${write}`);
  if (hosts === null) return undefined;
  if (hosts.length === 0) section.problem(section.at('hosts'), 'an empty list', 'the hosts');
  hosts.forEach((host, place) => {
    if (!hostForm.test(host)) section.problem(section.itemAt('hosts', place), `the text ${quote(host)}`, write);
  });
  return hosts;
}

function readTrue(section: Section, key: 'absent' | 'required'): true | undefined {
  if (section.flag(key) === true) return true;
  if (section.value(key) === false) section.problem(section.at(key), 'false', '`true`, or leave it out');
  return undefined;
}

function readSource(section: Section, key: 'one_of' | 'not_one_of', lists: Lists): ValueSource | undefined {
  const value = section.value(key);
  if (value === null) return undefined;
  if (Array.isArray(value)) {
    const values = readValues(section, key);
    if (value.length === 0) section.problem(section.at(key), 'an empty list', 'the values');
    return { values };
  }
  const own = section.section(key).closed(configurationKeys[`rules.<rule>.arguments.<path>.${key}`]);
  const claim = own.text('claim', 'the name of a claim');
  const list = own.text('list', 'the name of an entry under `lists`');
  if (own.usable && own.has('claim') === own.has('list'))
    own.problem(own.path, 'not exactly one of `claim` and `list`', 'the values as a list, `claim` or `list`');
  if (list !== null && !Object.hasOwn(lists, list))
    own.problem(own.at('list'), `the unknown list ${quote(list)}`, suggestion(list, Object.keys(lists)));
  if (claim !== null) return { claim };
  return list === null ? undefined : { list };
}

/**
 * Refuses lists that are looked up: approvals are judged in several places, and lists are read at calls alone. `own`
 * has the bounds.
 */
export function refuseLookups(own: Section, bounds: ArgumentBounds, lists: Lists): void {
  for (const [path, { oneOf, notOneOf }] of Object.entries(bounds))
    for (const [key, source] of Object.entries({ one_of: oneOf, not_one_of: notOneOf })) {
      if (source === undefined || !('list' in source) || !isElsewhere(source.list, lists)) continue;
      const found = `the list ${quote(source.list)}, which is looked up at calls`;
      const at = own.section(path).section(key).at('list');
      own.problem(at, found, 'a list that is written out or in a file');
    }
}

/** Bounds that no value meets, and such as say nothing beside others. */
function refuseImpossible(section: Section, bound: ArgumentBound): void {
  const { minimum = -Infinity, maximum = Infinity, above = -Infinity, below = Infinity } = bound;
  const { minLength = 0, maxLength = Infinity } = bound;
  if (minimum > maximum || above >= maximum || minimum >= below || above >= below)
    section.problem(section.path, 'numbers that no argument is between', 'a least number that is not above the most');
  if (minLength > maxLength)
    section.problem(section.at('max_length'), String(maxLength), `a number that is not below min_length`);
  if (bound.absent === true && Object.keys(bound).length > 1)
    section.problem(section.at('absent'), '`absent` beside others', '`absent: true` alone');
}

function given<K extends keyof ArgumentBound>(key: K, value: ArgumentBound[K]): Pick<ArgumentBound, never> {
  return value === undefined ? {} : { [key]: value };
}

/**
 * Bounds on the arguments of one tool that are written as JSON outside of the configuration; null for none, and a
 * sentence where they cannot be read.
 */
export function boundsOfTool(
  written: unknown,
  { spec }: Pick<ConfiguredTool, 'spec'>,
  lists: Lists = {},
): ArgumentBounds | null | { readonly problem: string } {
  const problems: Problem[] = [];
  const section = new Section({ bounds: written }, '', problems);
  const isEmpty = isJsonObject(written as JsonValue) && Object.keys(written as object).length === 0;
  const bounds = isEmpty ? null : readBounds(section, lists, 'bounds', true);
  if (bounds === undefined) return { problem: 'The bounds must be a map of arguments.' };
  refuseLookups(section.section('bounds'), bounds ?? {}, lists);
  for (const path of Object.keys(bounds ?? {}))
    if (spec !== null && !hasPath(spec.inputSchema, partsOfPath(path)))
      section.problem(path, `the unknown argument ${quote(path)}`, suggestion(path, argumentNames(spec.inputSchema)));
  return problems.length > 0 ? { problem: formatProblems(problems) } : bounds;
}
