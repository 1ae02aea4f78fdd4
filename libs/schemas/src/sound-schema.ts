import { canonicalJson, isJsonObject, quote, sentenceList } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { escaped, nested, nestedByName, pathShown } from './input-schema.js';
import { longestSchemaPattern, regexFlags } from './regex-flags.js';

interface SoundSchema {
  /** The same object where there was nothing to repair. */
  readonly schema: JsonObject;
  /** What could not be repaired, a sentence each. */
  readonly problems: readonly string[];
}

const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const;

/** Types that are written in other languages’ words, where only one type of JSON can be meant. */
const aliases: Readonly<Record<string, (typeof types)[number]>> = {
  str: 'string',
  text: 'string',
  int: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  bool: 'boolean',
  dict: 'object',
  map: 'object',
  list: 'array',
  none: 'null',
};

/** What a schema, or the language that it is in, is called. */
const names = ['$schema', '$id', 'id', '$anchor', '$dynamicAnchor'] as const;

/**
 * Keywords by what they hold. Of those that forbid nothing, what is of the wrong kind is left out; the others must be
 * right.
 */
const texts = new Set(['title', 'description', '$comment', 'format', 'contentEncoding', 'contentMediaType', ...names]);
const flags = new Set(['deprecated', 'readOnly', 'writeOnly', 'nullable', '$recursiveAnchor']);
const numbers = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']);
const counts = new Set([
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'minContains', 'maxContains'],
]);
const lists = new Set<string>(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const whole = new Set<string>([...nested.filter((key) => !lists.has(key)), 'not', 'if', 'then', 'else']);
const byName = new Set<string>([...nestedByName, 'patternProperties']);

/** `$async` would make ajv’s answer a promise, which is always true; the other only describes what a text holds. */
const left = new Set(['$async', 'contentSchema']);

/**
 * A server’s schema in a form that validators and model providers take, where it says the same: what is null, or says
 * nothing, is left out, and what drafts 3 and 4 and OpenAPI wrote otherwise is translated. Allows neither more nor
 * less. Repairing it again changes nothing.
 */
export function soundSchema(schema: JsonObject): SoundSchema {
  const problems: string[] = [];
  return { schema: repaired(schema, '', problems), problems };
}

function repaired(schema: JsonObject, path: string, problems: string[]): JsonObject {
  const entries: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(translated(schema, path))) {
    const kept = keyword(key, value, `${path}/${key}`, problems);
    if (kept !== undefined) entries.push([key, kept]);
  }
  return same(schema, entries) ? schema : Object.fromEntries(entries);
}

function same(schema: JsonObject, entries: readonly (readonly [string, JsonValue])[]): boolean {
  return Object.keys(schema).length === entries.length && entries.every(([key, value]) => schema[key] === value);
}

/** Keywords that drafts 3 and 4 and OpenAPI write otherwise, and those that look at each other. */
function translated(given: JsonObject, path: string): JsonObject {
  const said = Object.entries(given).filter(([key, value]) => {
    if (value === null) return key === 'const' || key === 'default' || key === 'example';
    return !left.has(key) && !(key === '$schema' && path !== '');
  });
  const schema: Record<string, JsonValue> = Object.fromEntries(withNumericBounds(said));
  const type = typesOf(schema['type']);
  if (type === 'any') delete schema['type'];
  else if (type !== null) schema['type'] = type;
  if (schema['nullable'] === false) delete schema['nullable'];
  if (schema['nullable'] === true && schema['type'] === undefined && !refersOrChooses(schema))
    delete schema['nullable'];
  const required = requiredOf(schema);
  if (required === null) delete schema['required'];
  else if (required !== undefined) schema['required'] = required;
  return schema;
}

/** In draft 4, an exclusive bound is a flag beside the bound. */
function withNumericBounds(entries: readonly [string, JsonValue][]): [string, JsonValue][] {
  const exclusive = new Map([
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ]);
  const isFlagged = (key: string): boolean =>
    entries.some(([other, value]) => other === exclusive.get(key) && value === true);
  return entries
    .filter(([key, value]) => typeof value !== 'boolean' || ![...exclusive.values()].includes(key))
    .map(([key, value]) => [isFlagged(key) ? (exclusive.get(key) as string) : key, value]);
}

/** Where `nullable` is about what stands behind the keyword. */
function refersOrChooses(schema: JsonObject): boolean {
  return ['$ref', 'allOf', 'anyOf', 'oneOf'].some((key) => Object.hasOwn(schema, key));
}

/** Types as JSON Schema names them; `any` where all are meant, null where one is unknown. */
function typesOf(value: JsonValue | undefined): JsonValue | 'any' | null {
  if (typeof value === 'string') return typeNamed(value);
  if (!Array.isArray(value) || value.length === 0) return null;
  const named = value.map((one: JsonValue) =>
    one === null ? 'null' : typeof one === 'string' ? typeNamed(one) : null,
  );
  if (named.includes(null)) return null;
  if (named.includes('any')) return 'any';
  const different = [...new Set(named as string[])];
  const isSame = different.length === value.length && different.every((one, at) => one === value[at]);
  return isSame ? (value as JsonValue) : different;
}

function typeNamed(name: string): string | null {
  const lower = name.toLowerCase();
  if (lower === 'any' || types.some((type) => type === lower)) return lower;
  return Object.hasOwn(aliases, lower) ? (aliases[lower] as string) : null;
}

/**
 * Draft 3 says at a property that it is required: that goes to the list of its object. Null where nothing is
 * required.
 */
function requiredOf(schema: JsonObject): JsonValue | null | undefined {
  const { required, properties } = schema;
  const own = typeof required === 'boolean' ? [] : (required ?? []);
  if (!Array.isArray(own)) return undefined;
  const marked = isJsonObject(properties)
    ? Object.entries(properties).flatMap(([name, one]) => (isJsonObject(one) && one['required'] === true ? [name] : []))
    : [];
  const all = [...new Set<JsonValue>([...(own as JsonValue[]), ...marked])];
  if (typeof required !== 'boolean' && all.length === own.length) return undefined;
  return all.length === 0 ? null : all;
}

/** What a keyword holds once it is repaired; undefined where it says nothing and is left out. */
function keyword(key: string, value: JsonValue, path: string, problems: string[]): JsonValue | undefined {
  const wrong = (what: string, remedy = 'write one'): JsonValue => {
    problems.push(problemAt(path, what, remedy));
    return value;
  };
  if (texts.has(key)) return typeof value === 'string' ? value : undefined;
  if (flags.has(key)) return typeof value === 'boolean' ? value : undefined;
  if (key === 'examples') return Array.isArray(value) ? value : undefined;
  if (numbers.has(key)) {
    if (!Number.isFinite(value)) return wrong('no number');
    return key === 'multipleOf' && (value as number) <= 0 ? wrong('no number above 0') : value;
  }
  if (counts.has(key))
    return Number.isInteger(value) && (value as number) >= 0 ? value : wrong('no whole number from 0 on');
  if (whole.has(key)) return one(key, value, path, problems);
  if (lists.has(key)) return list(key, value, path, problems);
  if (byName.has(key)) return named(key, value, path, problems);
  switch (key) {
    case 'type':
      return typesOf(value) === null
        ? wrong(
            typeof value === 'string' ? `the type ${quote(value)}` : 'no type',
            `write one of ${sentenceList(types)}`,
          )
        : value;
    case 'enum':
      return enumOf(value) ?? wrong('no value to choose from', 'list them, or leave `enum` out');
    case 'uniqueItems':
      return typeof value === 'boolean' ? value : wrong('neither true nor false');
    case 'required':
      return areNames(value) ? value : wrong('no list of names');
    case 'dependentRequired':
      return isJsonObject(value) && Object.values(value).every(areNames)
        ? withoutRepeats(value)
        : wrong('no list of names for each name');
    case '$ref':
      return typeof value === 'string' ? value : wrong('no reference');
    case 'pattern':
      return typeof value === 'string' && regexFlags(value) !== null ? value : wrong(patternProblem(value));
    default:
      return value;
  }
}

function areNames(value: JsonValue): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

function withoutRepeats(lists: JsonObject): JsonObject {
  const entries = Object.entries(lists).map(([name, names]): [string, JsonValue] => [
    name,
    different(names as readonly JsonValue[]),
  ]);
  return same(lists, entries) ? lists : Object.fromEntries(entries);
}

function different(names: readonly JsonValue[]): readonly JsonValue[] {
  const once = new Set(names);
  return once.size === names.length ? names : [...once];
}

function enumOf(value: JsonValue): JsonValue | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const different = new Map(value.map((item: JsonValue) => [canonicalJson(item), item]));
  return different.size === value.length ? (value as JsonValue) : [...different.values()];
}

/** A keyword with one schema; `items` of earlier drafts may have a list of them. */
function one(key: string, value: JsonValue, path: string, problems: string[]): JsonValue | undefined {
  if (!Array.isArray(value)) return item(value, path, problems);
  // PHP writes an empty map as an empty list; as a list of schemas it says nothing either.
  if (value.length === 0) return key === 'items' ? undefined : {};
  return key === 'items' ? items(value, path, problems) : item(value, path, problems);
}

function list(key: string, value: JsonValue, path: string, problems: string[]): JsonValue | undefined {
  if (!Array.isArray(value)) {
    problems.push(problemAt(path, 'no list of schemas'));
    return value;
  }
  if (value.length > 0) return items(value, path, problems);
  if (key === 'allOf' || key === 'prefixItems') return undefined;
  problems.push(problemAt(path, 'no alternative to choose from', `list them, or leave \`${key}\` out`));
  return value;
}

function items(value: readonly JsonValue[], path: string, problems: string[]): JsonValue {
  const repairedItems = value.map((schema, at) => item(schema, `${path}/${String(at)}`, problems));
  return repairedItems.every((schema, at) => schema === value[at]) ? (value as JsonValue) : repairedItems;
}

function named(key: string, value: JsonValue, path: string, problems: string[]): JsonValue {
  if (Array.isArray(value) && value.length === 0) return {};
  if (!isJsonObject(value)) {
    problems.push(problemAt(path, 'no map of schemas'));
    return value;
  }
  const entries = Object.entries(value).map(([name, schema]): [string, JsonValue] => {
    const place = `${path}/${escaped(name)}`;
    if (key === 'dependencies' && areNames(schema)) return [name, different(schema as readonly JsonValue[])];
    if (key === 'patternProperties' && regexFlags(name) === null) problems.push(problemAt(place, patternProblem(name)));
    return [name, schema === null ? {} : item(schema, place, problems)];
  });
  return same(value, entries) ? value : Object.fromEntries(entries);
}

function item(value: JsonValue, path: string, problems: string[]): JsonValue {
  if (isJsonObject(value)) return repaired(value, path, problems);
  if (typeof value !== 'boolean') problems.push(problemAt(path, 'no schema'));
  return value;
}

function patternProblem(value: JsonValue): string {
  return typeof value === 'string' && value.length > longestSchemaPattern
    ? `a pattern of more than ${String(longestSchemaPattern)} characters`
    : 'no regular expression of ECMAScript';
}

function problemAt(path: string, what: string, remedy = 'write one'): string {
  return `The schema has ${what} at ${pathShown(path)}: ${remedy} on the server.`;
}

/**
 * A sound schema as draft 2020-12 writes it, which is what is checked and offered: lists of schemas under `items`
 * have another name there. Without the names that only serve references to other places than a JSON pointer’s, and
 * without `$defs` where no reference is left.
 */
export function currentSchema(schema: JsonObject): JsonObject {
  return mapSchemas(schema, (one) => {
    const entries = Object.entries(one).flatMap(([key, value]): [string, JsonValue][] => {
      if (unchecked.has(key)) return [];
      if (key === 'items' && Array.isArray(value)) return [['prefixItems', value]];
      if (key === 'additionalItems') return Array.isArray(one['items']) ? [['items', value]] : [];
      return [[key, isUnknown(key) ? withoutNames(value) : value]];
    });
    return same(one, entries) ? one : Object.fromEntries(entries);
  });
}

/** What results are checked against: as it is current, with OpenAPI’s `nullable` beside a reference as a choice. */
export function checkableSchema(schema: JsonObject): JsonObject {
  return mapSchemas(currentSchema(schema), (one) => {
    if (one['nullable'] !== true || one['type'] !== undefined) return one;
    const rest = Object.fromEntries(Object.entries(one).filter(([key]) => key !== 'nullable'));
    return refersOrChooses(one) ? { anyOf: [{ type: 'null' }, rest] } : rest;
  });
}

const unchecked = new Set<string>([...names, '$vocabulary', '$recursiveAnchor', '$recursiveRef', '$dynamicRef']);

/** Values, in which nothing is a schema. */
const values = new Set(['const', 'default', 'enum', 'example', 'examples']);

function isUnknown(key: string): boolean {
  return !whole.has(key) && !lists.has(key) && !byName.has(key) && !values.has(key);
}

/**
 * ajv takes what stands under a keyword that it does not know for schemas too, and refuses names there that are no
 * names, or not the only ones.
 */
function withoutNames(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    const kept = value.map(withoutNames);
    return kept.every((one, at) => one === value[at]) ? (value as JsonValue) : kept;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value)
    .filter(([key, one]) => !(unchecked.has(key) && typeof one === 'string'))
    .map(([key, one]): [string, JsonValue] => [key, values.has(key) ? one : withoutNames(one)]);
  return same(value, entries) ? value : Object.fromEntries(entries);
}

/** The schema with itself and then each schema in it as `change` makes it; the same object where nothing changes. */
export function mapSchemas(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const changed = change(schema);
  const inside = (value: JsonValue): JsonValue => (isJsonObject(value) ? mapSchemas(value, change) : value);
  const entries = Object.entries(changed).map(([key, value]): [string, JsonValue] => {
    if (byName.has(key) && isJsonObject(value)) {
      const mapped = Object.entries(value).map(([name, one]): [string, JsonValue] => [name, inside(one)]);
      return [key, same(value, mapped) ? value : Object.fromEntries(mapped)];
    }
    if (!whole.has(key) && !lists.has(key)) return [key, value];
    if (!Array.isArray(value)) return [key, inside(value)];
    const mapped = value.map((one: JsonValue) => inside(one));
    return [key, mapped.every((one, at) => one === value[at]) ? (value as JsonValue) : mapped];
  });
  return same(changed, entries) ? changed : Object.fromEntries(entries);
}
