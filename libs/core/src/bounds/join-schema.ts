import { type JsonObject, type JsonValue, canonicalJson, isJsonObject } from '../json.js';
import { printable } from '../printable.js';
import type { ArgumentBound, BoundFacts, Lists, ValueSource } from './types.js';

/** Values that an `enum` of a joined schema has at most; more of them would cost every turn. */
const mostValues = 100;

/** What RE2 has and a pattern of JSON Schema does not, or means otherwise. */
const ownOfRe2 = /\(\?(?!:)|\\[AzQECpP]|\[\[:/;

/** A path and its bound, with what the bound is judged by. */
interface Joining {
  readonly parts: readonly string[];
  readonly bound: ArgumentBound;
}

interface About {
  readonly claims: BoundFacts['claims'];
  readonly lists: Lists;
}

/**
 * The schema with what its bounds say: values, numbers, lengths and patterns in JSON Schema's
 * own words, the rest in the description of the argument. What stands where the schema has no such place is left out:
 * the call is checked in any case.
 */
export function joinSchema(schema: JsonObject, joining: readonly Joining[], about: About): JsonObject {
  return joining.reduce((joined, { parts, bound }) => joinAt(joined, parts, bound, about), schema);
}

function joinAt(schema: JsonObject, parts: readonly string[], bound: ArgumentBound, about: About): JsonObject {
  const [part, ...rest] = parts;
  if (part === undefined) return joinBound(schema, bound, about);
  if (part === '*') {
    const { items } = schema;
    return isJsonObject(items) ? { ...schema, items: joinAt(items, rest, bound, about) } : schema;
  }
  const { properties, required = [] } = schema;
  if (!isJsonObject(properties) || !Object.hasOwn(properties, part)) return schema;
  const names = Array.isArray(required) ? (required as readonly JsonValue[]) : [];
  if (rest.length === 0 && bound.absent === true) {
    const others = Object.entries(properties).filter(([name]) => name !== part);
    return names.includes(part) ? schema : { ...schema, properties: Object.fromEntries(others) };
  }
  const property = properties[part];
  if (!isJsonObject(property)) return schema;
  const entries = Object.entries(properties).map(([name, one]): [string, JsonValue] => [
    name,
    name === part ? joinAt(property, rest, bound, about) : one,
  ]);
  const isAdded = rest.length === 0 && bound.required === true && !names.includes(part);
  return {
    ...schema,
    properties: Object.fromEntries(entries),
    ...(isAdded ? { required: [...names, part] } : {}),
  };
}

function joinBound(schema: JsonObject, bound: ArgumentBound, about: About): JsonObject {
  const sentences: string[] = [];
  const joined: Record<string, JsonValue> = { ...schema };
  const { constant, oneOf, notOneOf, pattern, hosts } = bound;
  if (constant !== undefined) narrow(joined, [constant.value]);
  if (oneOf !== undefined) {
    const values = valuesOf(oneOf, schema, about);
    if (values === null || values.length > mostValues) sentences.push(`One of ${named(oneOf)}.`);
    else narrow(joined, values);
  }
  if (notOneOf !== undefined) sentences.push(`None of ${named(notOneOf)}.`);
  joinNumbers(joined, bound);
  joinLengths(joined, bound);
  if (pattern !== undefined) {
    if (joined['pattern'] === undefined && !ownOfRe2.test(pattern) && isOf(schema, 'string'))
      joined['pattern'] = pattern;
    else sentences.push(`With the pattern ${printable(pattern)}.`);
  }
  if (hosts !== undefined) sentences.push(`An address at ${hosts.join(', ')}.`);
  if (sentences.length === 0) return joined;
  const { description } = schema;
  const texts = typeof description === 'string' && description !== '' ? [description, ...sentences] : sentences;
  return { ...joined, description: texts.join(' ') };
}

/** Narrows the values of a schema to these. Where none is left it stays: no call is within, whatever it says. */
function narrow(joined: Record<string, JsonValue>, values: readonly JsonValue[]): void {
  const { enum: written } = joined;
  const known = new Set(values.map(canonicalJson));
  const left = Array.isArray(written)
    ? (written as readonly JsonValue[]).filter((value) => known.has(canonicalJson(value)))
    : values;
  if (left.length > 0) joined['enum'] = left;
}

/** The values of a source, of the type that the schema has; null for those that are not known here. */
function valuesOf(source: ValueSource, schema: JsonObject, { claims, lists }: About): readonly JsonValue[] | null {
  if ('values' in source) return source.values;
  if ('list' in source) {
    const list = Object.hasOwn(lists, source.list) ? lists[source.list] : undefined;
    return list !== undefined && 'values' in list ? list.values : null;
  }
  const texts = Object.hasOwn(claims, source.claim) ? (claims[source.claim] ?? []) : [];
  const isText = isOf(schema, 'string');
  return isText ? texts : texts.map(Number).filter((value) => Number.isFinite(value));
}

function named(source: ValueSource): string {
  if ('claim' in source) return `the caller’s ${printable(source.claim)}`;
  if ('list' in source) return `the list ${printable(source.list)}`;
  return source.values
    .slice(0, mostValues)
    .map((value) => printable(String(value)))
    .join(', ');
}

function joinNumbers(joined: Record<string, JsonValue>, { minimum, maximum, above, below }: ArgumentBound): void {
  if (!isOf(joined, 'number') && !isOf(joined, 'integer')) return;
  const limit = (key: string, value: number | undefined, narrower: (one: number, other: number) => number): void => {
    const { [key]: written } = joined;
    if (value !== undefined) joined[key] = typeof written === 'number' ? narrower(written, value) : value;
  };
  limit('minimum', minimum, Math.max);
  limit('maximum', maximum, Math.min);
  limit('exclusiveMinimum', above, Math.max);
  limit('exclusiveMaximum', below, Math.min);
}

function joinLengths(joined: Record<string, JsonValue>, { minLength, maxLength }: ArgumentBound): void {
  const kinds = [
    ['string', 'minLength', 'maxLength'],
    ['array', 'minItems', 'maxItems'],
  ] as const;
  for (const [type, least, most] of kinds) {
    if (!isOf(joined, type)) continue;
    const [low, high] = [joined[least], joined[most]];
    if (minLength !== undefined) joined[least] = typeof low === 'number' ? Math.max(low, minLength) : minLength;
    if (maxLength !== undefined) joined[most] = typeof high === 'number' ? Math.min(high, maxLength) : maxLength;
  }
}

/** Whether values of the type are among those of the schema, as it says itself. */
function isOf({ type }: JsonObject, name: string): boolean {
  return type === name || (Array.isArray(type) && (type as readonly JsonValue[]).includes(name));
}
