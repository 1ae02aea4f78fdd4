import { longestClaimValue, mostClaimValues } from '../availability/measures.js';
import { inexactNumbers } from '../exact-json.js';
import { type JsonValue, canonicalJson, equalJson, isRawNumber } from '../json.js';
import { linearPattern } from '../patterns/linear-pattern.js';
import { printable } from '../printable.js';
import { isWithinHosts } from './hosts.js';
import type { ArgumentBound, ArgumentBounds, BoundFacts, Lists, OutOfBounds, ValueSource } from './types.js';
import { partsOfPath, valuesAt } from './values-at.js';

/** A value of a list that the executor has to ask about before it can say whether a call is within its bounds. */
export interface Lookup {
  readonly list: string;
  readonly value: string;
  /** What the bound needs. */
  readonly wanted: 'listed' | 'not listed';
}

/** What the executor found: `failed` where the list could not be read. */
export type LookupAnswer = Lookup['wanted'] | 'failed';

/** Bounds made ready for calls. */
export interface CompiledBounds {
  readonly bounds: ArgumentBounds;
  /** In the order of their paths, so that the order in the file changes nothing. */
  readonly paths: readonly CompiledPath[];
}

interface CompiledPath {
  readonly path: string;
  readonly parts: readonly string[];
  readonly bound: ArgumentBound;
  readonly checks: readonly Check[];
  /** The lists that are kept elsewhere. */
  readonly lookups: readonly Omit<Lookup, 'value'>[];
}

/** One thing that every value at the path must be; what cannot be compared is not. */
interface Check {
  readonly why: string;
  isMet(value: JsonValue, facts: BoundFacts): boolean;
  /** Why a value is not, where it is no fault of the value; null where it is. */
  whyNot?(value: JsonValue, facts: BoundFacts): string | null;
}

/** Characters of a value that the executor asks about; a longer one counts as on no list. */
const longestLookup = 256;
/** Values that a sentence names. */
const namedValues = 10;

/** Values that are asked about for the bounds of one call. */
const mostLookups = 100;

/** The name of the fact that says whether the list has the value. */
export function lookupFact({ list, value }: Pick<Lookup, 'list' | 'value'>): string {
  return `lookup/${list}/${value}`;
}

/** Makes bounds ready; every list that they name is among `lists`. */
export function compileBounds(bounds: ArgumentBounds, lists: Lists = {}): CompiledBounds {
  const paths = Object.keys(bounds).sort();
  return { bounds, paths: paths.map((path) => compilePath(path, bounds[path] as ArgumentBound, lists)) };
}

/**
 * Bounds within which something opens: every argument that they name must be given, but one that says otherwise. Of one
 * that is left out the tool may make anything.
 */
export function allGiven(bounds: ArgumentBounds): ArgumentBounds {
  const strict = Object.entries(bounds).map(([path, bound]) => {
    return [path, bound.absent === true ? bound : { ...bound, required: bound.required ?? true }] as const;
  });
  return Object.fromEntries(strict);
}

/**
 * The first argument that is out of its bounds; null where all are within. `args` are the validated arguments of the
 * call with the defaults of its schema (withSchemaDefaults).
 */
export function outOfBounds({ paths }: CompiledBounds, args: JsonValue, facts: BoundFacts): OutOfBounds | null {
  for (const { path, parts, bound, checks } of paths) {
    const { values, isAstray, isPartial } = valuesAt(args, parts);
    const isGiven = values.length > 0 || isAstray;
    if (bound.absent === true && isGiven) return { path, why: 'it may not be given' };
    if (isAstray) return { path, why: 'a value on its way has no such part' };
    if (bound.required === true && (!isGiven || isPartial)) return { path, why: 'it must be given' };
    for (const value of values)
      for (const { why, isMet, whyNot } of checks)
        if (!isMet(value, facts)) return { path, why: whyNot?.(value, facts) ?? why };
  }
  return null;
}

/** What each argument must be, in the order of their paths. */
export function argumentsInWords(
  bounds: ArgumentBounds,
  lists: Lists = {},
): readonly { readonly argument: string; readonly words: readonly string[] }[] {
  return compileBounds(bounds, lists).paths.map(({ path, bound, checks }) => {
    const given = [
      ...(bound.absent === true ? ['may not be given'] : []),
      ...(bound.required === true ? ['must be given'] : []),
    ];
    return { argument: path, words: [...given, ...checks.map(({ why }) => why.replace(/^it /, ''))] };
  });
}

/** What has to be asked of lists that are kept elsewhere before the bounds can be judged; so much of it is asked. */
export function lookupsIn({ paths }: CompiledBounds, args: JsonValue): readonly Lookup[] {
  const all = paths.flatMap(({ parts, lookups }) =>
    lookups.length === 0
      ? []
      : valuesAt(args, parts).values.flatMap((value) => {
          const text = textOf(value);
          if (text === null || text.length > longestLookup) return [];
          return lookups.map(({ list, wanted }) => ({ list, value: text, wanted }));
        }),
  );
  return [...new Map(all.map((one) => [lookupFact(one), one])).values()].slice(0, mostLookups);
}

function compilePath(path: string, bound: ArgumentBound, lists: Lists): CompiledPath {
  const elsewhere = (source: ValueSource | undefined, wanted: Lookup['wanted']): CompiledPath['lookups'] =>
    source !== undefined && 'list' in source && isElsewhere(source.list, lists) ? [{ list: source.list, wanted }] : [];
  const lookups = [...elsewhere(bound.oneOf, 'listed'), ...elsewhere(bound.notOneOf, 'not listed')];
  return { path, parts: partsOfPath(path), bound, checks: checksOf(bound, lists), lookups };
}

/** Whether the executor asks about values of the list. */
export function isElsewhere(list: string, lists: Lists): boolean {
  const settings = Object.hasOwn(lists, list) ? lists[list] : undefined;
  return settings !== undefined && 'lookup' in settings;
}

function checksOf(bound: ArgumentBound, lists: Lists): readonly Check[] {
  const { constant, oneOf, notOneOf, minimum, maximum, above, below, pattern, minLength, maxLength, hosts } = bound;
  const number = (limit: number | undefined, words: string, isMet: (value: number, limit: number) => boolean) =>
    limit === undefined ? [] : [numberCheck(`${words} ${String(limit)}`, (value) => isMet(value, limit))];
  return [
    ...(constant === undefined ? [] : [constantCheck(constant.value)]),
    ...(oneOf === undefined ? [] : [membership(oneOf, true, lists)]),
    ...(notOneOf === undefined ? [] : [membership(notOneOf, false, lists)]),
    ...number(minimum, 'at least', (value, limit) => value >= limit),
    ...number(above, 'more than', (value, limit) => value > limit),
    ...number(maximum, 'at most', (value, limit) => value <= limit),
    ...number(below, 'less than', (value, limit) => value < limit),
    ...(pattern === undefined ? [] : [patternCheck(pattern)]),
    ...(minLength === undefined ? [] : [lengthCheck(`at least ${String(minLength)}`, (length) => length >= minLength)]),
    ...(maxLength === undefined ? [] : [lengthCheck(`at most ${String(maxLength)}`, (length) => length <= maxLength)]),
    ...(hosts === undefined ? [] : [hostCheck(hosts)]),
  ];
}

function constantCheck(constant: JsonValue): Check {
  return { why: `it must be ${inWords(constant)}`, isMet: (value) => equalJson(plain(value), constant) };
}

function numberCheck(words: string, isMet: (value: number) => boolean): Check {
  return {
    why: `it must be a number of ${words}`,
    isMet: (value) => {
      const number = numberOf(value);
      return number !== null && isMet(number);
    },
  };
}

/** A number as it can be compared: none of more digits than a number here can hold. */
function numberOf(value: JsonValue): number | null {
  if (typeof value === 'number') return value;
  return isRawNumber(value) && inexactNumbers(value).length === 0 ? Number(value.rawJSON) : null;
}

function plain(value: JsonValue): JsonValue {
  return numberOf(value) ?? value;
}

function patternCheck(pattern: string): Check {
  const compiled = linearPattern(pattern, true);
  return {
    why: `it must be a text with the pattern ${printable(pattern)}`,
    isMet: (value) =>
      compiled !== null && typeof value === 'string' && value.length <= compiled.longestText && compiled.find(value),
  };
}

function lengthCheck(words: string, isMet: (length: number) => boolean): Check {
  return {
    why: `it must have ${words} characters or items`,
    isMet: (value) => {
      if (typeof value === 'string') return isMet(characters(value));
      return Array.isArray(value) && isMet(value.length);
    },
  };
}

/** As JSON Schema counts them: code points. */
function characters(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) if ((text.codePointAt(at) ?? 0) > 0xffff) pairs++;
  return text.length - pairs;
}

function hostCheck(hosts: readonly string[]): Check {
  return {
    why: `it must be an address at ${named(hosts)}`,
    isMet: (value) => typeof value === 'string' && isWithinHosts(value, hosts),
  };
}

/** Whether a value is one of a source, or none of it. Of a claim and of a file values are texts. */
function membership(source: ValueSource, isWanted: boolean, lists: Lists): Check {
  const must = isWanted ? 'it must be one of' : 'it may not be one of';
  if ('claim' in source) {
    const { claim } = source;
    return {
      why: `${must} the values of the caller’s claim ${printable(claim)}`,
      isMet: (value, { claims }) => {
        const text = textOf(value);
        const values = Object.hasOwn(claims, claim) ? (claims[claim] ?? []) : null;
        if (text === null || values === null) return false;
        if (isWanted) return values.includes(text);
        // A claim of so many values may have had more, and a value of such a length may have been cut.
        const isWhole = values.length < mostClaimValues && text.length < longestClaimValue;
        return isWhole && !values.includes(text);
      },
    };
  }
  const settings = 'list' in source ? (Object.hasOwn(lists, source.list) ? lists[source.list] : undefined) : source;
  const words = 'list' in source ? `the list ${printable(source.list)}` : named(source.values.map(inWords));
  if (settings === undefined) return { why: `${must} ${words}`, isMet: () => false };
  if ('lookup' in settings && 'list' in source) {
    const { list } = source;
    const answerOn = (value: JsonValue, { facts }: BoundFacts): string | null => {
      const text = textOf(value);
      const name = text === null ? null : lookupFact({ list, value: text });
      return name !== null && Object.hasOwn(facts, name) ? (facts[name] ?? null) : null;
    };
    const unread = `${words} could not be read, so no value is within it now`;
    return {
      why: `${must} ${words}, which is kept elsewhere`,
      isMet: (value, facts) => answerOn(value, facts) === (isWanted ? 'listed' : 'not listed'),
      whyNot: (value, facts) => (answerOn(value, facts) === 'failed' ? unread : null),
    };
  }
  const known = new Set('values' in settings ? settings.values.map(canonicalJson) : []);
  return {
    why: `${must} ${words}`,
    isMet: (value) => {
      const own = plain(value);
      if (typeof own === 'object' && own !== null && !isWanted) return false;
      return known.has(canonicalJson(own)) === isWanted;
    },
  };
}

/** A value as a claim or a list elsewhere has it. */
function textOf(value: JsonValue): string | null {
  const own = plain(value);
  return typeof own === 'string' || typeof own === 'number' || typeof own === 'boolean' ? String(own) : null;
}

function inWords(value: JsonValue): string {
  return printable(typeof value === 'string' ? value : canonicalJson(value));
}

function named(words: readonly string[]): string {
  const more = words.length - namedValues;
  return `${words.slice(0, namedValues).join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
}
