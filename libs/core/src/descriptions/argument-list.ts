import { type JsonObject, type JsonValue, isJsonObject } from '../json.js';
import { referredTo } from './example-call.js';

const typeNames: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  array: 'list',
  object: 'dict',
  null: 'None',
};

/** Levels of arguments within arguments that are written out. */
const deepest = 4;

/**
 * The arguments of a schema, a line each: `name` (type, optional): what it is, with the values and limits that it
 * has.
 */
export function argumentLines(schema: JsonObject, root = schema, depth = 0): readonly string[] {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return [];
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(properties).flatMap(([name, written]) => {
    const own = isJsonObject(written) ? resolved(written, root) : {};
    const optional = needed.has(name) ? '' : ', optional';
    const said = [textOf(own), limitsOf(own)].filter((text) => text !== '').join(' ');
    const line = `${'  '.repeat(depth)}- \`${name}\` (${typeOf(own, root)}${optional})${said === '' ? '' : `: ${said}`}`;
    return depth >= deepest ? [line] : [line, ...argumentLines(membersOf(own, root), root, depth + 1)];
  });
}

/** A type in the words of Python, which the examples are written in. */
function typeOf(schema: JsonObject, root: JsonObject): string {
  if (schema['const'] !== undefined) return literal(schema['const']);
  const { type } = schema;
  if (typeof type === 'string') {
    if (type !== 'array' || !isJsonObject(schema['items'])) return typeNames[type] ?? type;
    return `list of ${typeOf(resolved(schema['items'], root), root)}`;
  }
  const several = Array.isArray(type)
    ? type.map((one) => typeNames[String(one)] ?? String(one))
    : alternatives(schema).map((one) => typeOf(resolved(one, root), root));
  return several.length === 0 ? 'any' : [...new Set(several)].join(' or ');
}

function alternatives({ anyOf, oneOf }: JsonObject): readonly JsonObject[] {
  const list = anyOf ?? oneOf;
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

/** What has arguments of its own: the object itself, or the items of a list. */
function membersOf(schema: JsonObject, root: JsonObject): JsonObject {
  const { items } = schema;
  return isJsonObject(items) ? resolved(items, root) : schema;
}

function resolved(schema: JsonObject, root: JsonObject): JsonObject {
  const { $ref, ...beside } = schema;
  const referred = referredTo($ref, root);
  return isJsonObject(referred) ? { ...referred, ...beside } : schema;
}

function textOf({ description }: JsonObject): string {
  return typeof description === 'string' ? description.trim().replace(/\s*\n\s*/g, ' ') : '';
}

const limits: readonly (readonly [string, (value: string) => string])[] = [
  ['minimum', (value) => `at least ${value}`],
  ['maximum', (value) => `at most ${value}`],
  ['exclusiveMinimum', (value) => `more than ${value}`],
  ['exclusiveMaximum', (value) => `less than ${value}`],
  ['minLength', (value) => `at least ${value} characters`],
  ['maxLength', (value) => `at most ${value} characters`],
  ['minItems', (value) => `at least ${value} items`],
  ['maxItems', (value) => `at most ${value} items`],
  ['pattern', (value) => `of the pattern \`${value}\``],
];

/** The largest whole number of JavaScript, which a schema library writes where no limit was meant. */
const noLimit = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];

/** One of the values, the default and the limits, in brackets. */
function limitsOf(schema: JsonObject): string {
  const { enum: values } = schema;
  const said = [
    ...(Array.isArray(values) ? [`one of ${values.map(literal).join(', ')}`] : []),
    ...limits.flatMap(([name, write]) => {
      const value = schema[name];
      const isLimit = typeof value === 'string' || (typeof value === 'number' && !noLimit.includes(value));
      return isLimit ? [write(String(value))] : [];
    }),
    ...(schema['default'] === undefined ? [] : [`default ${literal(schema['default'])}`]),
  ];
  return said.length === 0 ? '' : `(${said.join('; ')})`;
}

/** A value in the words of Python. */
export function literal(value: JsonValue): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, one]) => `${JSON.stringify(name)}: ${literal(one)}`)
    .join(', ')}}`;
}
