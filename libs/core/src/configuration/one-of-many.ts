import { type JsonObject, type JsonValue, isJsonObject } from '../json.js';
import { annotations } from './joined-schemas.js';

/**
 * The one plain schema that a union comes down to: its only branch, the branch beside null, or all its constants in one `enum`. Allows what
 * the union allows but null, and nothing else; null where there is no such schema.
 */
export function oneOfMany(union: 'allOf' | 'anyOf' | 'oneOf', branches: readonly JsonObject[]): JsonObject | null {
  const [first, ...others] = branches;
  if (first === undefined) return null;
  if (others.length === 0) return first;
  if (union === 'allOf') return null;
  const exclusive = union === 'oneOf';
  const [branch, ...more] = branches.filter((one) => !isOnlyNull(one));
  if (branch === undefined) return exclusive ? null : first;
  if (more.length > 0) return oneEnum([branch, ...more], exclusive);
  // Null fits two branches of a `oneOf` if this one takes it too, and so is refused there.
  return exclusive && !refusesNull(branch) ? null : branch;
}

function isOnlyNull(schema: JsonObject): boolean {
  const { type } = schema;
  const keys = Object.keys(schema).filter((key) => !annotations.has(key));
  if (keys.length === 1 && (type === 'null' || (Array.isArray(type) && type.length === 1 && type[0] === 'null')))
    return true;
  const values = constants(schema);
  return values !== null && values.length > 0 && values.every((value) => value === null);
}

function refusesNull({ type, const: constant, enum: values }: JsonObject): boolean {
  if (typeof type === 'string') return type !== 'null';
  if (Array.isArray(type)) return !type.includes('null');
  if (constant !== undefined) return constant !== null;
  return Array.isArray(values) && !values.includes(null);
}

/** All constants of the branches but null; of a `oneOf` those that fit exactly one. Null if they are of several types, or none. */
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
  return type === undefined || others.length > 0 ? null : { type, enum: values };
}

/** The scalars that a schema allows if it names all of them and says nothing else; null if it does not. */
function constants(schema: JsonObject): readonly JsonValue[] | null {
  const { type, const: constant, enum: listed } = schema;
  const says = Object.keys(schema).filter((key) => key !== 'type' && !annotations.has(key));
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
