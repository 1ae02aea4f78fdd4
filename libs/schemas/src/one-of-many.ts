import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { isAnnotation } from './joined-schemas.js';

/**
 * The one plain schema that a union comes down to: its only branch, the branch beside null, all its constants in one
 * `enum`, or all its types in one list. Allows what the union allows but null, and nothing else; null where there is
 * no such schema.
 */
export function oneOfMany(union: 'anyOf' | 'oneOf', branches: readonly JsonObject[]): JsonObject | null {
  const [first, ...others] = branches;
  if (first === undefined) return null;
  if (others.length === 0) return first;
  const exclusive = union === 'oneOf';
  const [branch, ...more] = branches.filter((one) => !isOnlyNull(one));
  if (branch === undefined) return exclusive ? null : first;
  if (more.length > 0) return oneEnum([branch, ...more], exclusive) ?? oneOfTypes([branch, ...more], exclusive);
  // Null fits two branches of a `oneOf` if this one takes it too, and so is refused there.
  return exclusive && !refusesNull(branch) ? null : branch;
}

export function isOnlyNull(schema: JsonObject): boolean {
  const { type } = schema;
  const keys = Object.keys(schema).filter((key) => !isAnnotation(key));
  if (keys.length === 1 && (type === 'null' || (Array.isArray(type) && type.length === 1 && type[0] === 'null')))
    return true;
  const values = constants(schema);
  return values !== null && values.length > 0 && values.every((value) => value === null);
}

export function refusesNull({ type, const: constant, enum: values }: JsonObject): boolean {
  if (typeof type === 'string') return type !== 'null';
  if (Array.isArray(type)) return !type.includes('null');
  if (constant !== undefined) return constant !== null;
  return Array.isArray(values) && !values.includes(null);
}

/**
 * All constants of the branches but null; of a `oneOf` those that fit exactly one. Null if there are none, or a
 * branch has others.
 */
function oneEnum(branches: readonly JsonObject[], exclusive: boolean): JsonObject | null {
  const fits = new Map<JsonValue, number>();
  for (const branch of branches) {
    const values = constants(branch);
    if (values === null) return null;
    for (const value of new Set(values)) fits.set(value, (fits.get(value) ?? 0) + 1);
  }
  const values = [...fits].flatMap(([value, count]) => (value === null || (exclusive && count > 1) ? [] : [value]));
  const types = new Set(values.map(typeOf));
  if (types.has('integer') && types.has('number')) types.delete('integer');
  const [type, ...others] = types;
  if (type === undefined) return null;
  return { type: others.length === 0 ? type : [type, ...others], enum: values };
}

/** Keywords that look at values of one type alone, so that those of several types may stand side by side. */
const ofOneType: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    string: ['minLength', 'maxLength', 'pattern', 'format'],
    integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
    number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
    boolean: [],
    array: ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems', 'uniqueItems'],
  }).map(([type, keywords]) => [type, new Set(keywords)]),
);

/**
 * One schema with all types of the branches, each with its own keywords. Objects are not among them: their text is
 * another way to write them.
 */
function oneOfTypes(given: readonly JsonObject[], exclusive: boolean): JsonObject | null {
  const anyNumber = given.some((branch) => branch['type'] === 'number' && constraints(branch).length === 0);
  const branches = anyNumber && !exclusive ? given.filter(({ type }) => type !== 'integer') : given;
  const types = branches.map(({ type }) => (typeof type === 'string' ? type : ''));
  const different = new Set(types.map((type) => (type === 'integer' ? 'number' : type)));
  if (different.size < branches.length) return null;
  const isSimple = branches.every((branch, at) => {
    const keywords = ofOneType.get(types[at] ?? '');
    return keywords !== undefined && constraints(branch).every(([key]) => keywords.has(key));
  });
  if (!isSimple) return null;
  const [type, ...others] = types;
  return {
    type: others.length === 0 ? (type as string) : types,
    ...Object.fromEntries(branches.flatMap((branch) => constraints(branch))),
  };
}

function constraints(schema: JsonObject): [string, JsonValue][] {
  return Object.entries(schema).filter(([key]) => key !== 'type' && !isAnnotation(key));
}

/** The scalars that a schema allows if it names all of them and says nothing else; null if it does not. */
function constants(schema: JsonObject): readonly JsonValue[] | null {
  const { type, const: constant, enum: listed } = schema;
  const says = Object.keys(schema).filter((key) => key !== 'type' && !isAnnotation(key));
  if (says.length !== 1) return null;
  const values: readonly JsonValue[] | null =
    constant !== undefined ? [constant] : Array.isArray(listed) ? listed : null;
  if (values === null || values.some((value) => isJsonObject(value) || Array.isArray(value))) return null;
  if (type === undefined) return values;
  const types: readonly JsonValue[] = Array.isArray(type) ? type : [type];
  return values.filter(
    (value) => types.includes(typeOf(value)) || (typeof value === 'number' && types.includes('number')),
  );
}

function typeOf(value: JsonValue): 'null' | 'string' | 'boolean' | 'integer' | 'number' {
  if (value === null) return 'null';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'boolean' ? 'boolean' : 'string';
}
