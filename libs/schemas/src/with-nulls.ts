import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

/**
 * The schema with null allowed at these JSON pointers: the server takes it there, though models are not shown that it
 * does.
 */
export function withNulls(schema: JsonObject, pointers: readonly string[]): JsonObject {
  return pointers.reduce<JsonObject>((whole, pointer) => {
    const steps = pointer.split('/').slice(1);
    const names = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const changed = nullableAt(whole, names);
    return isJsonObject(changed) ? changed : whole;
  }, schema);
}

function nullableAt(value: JsonValue, [name, ...rest]: readonly string[]): JsonValue {
  if (name === undefined) return isJsonObject(value) ? nullable(value) : value;
  if (Array.isArray(value))
    return value.map((item: JsonValue, at) => (String(at) === name ? nullableAt(item, rest) : item));
  if (!isJsonObject(value) || !Object.hasOwn(value, name)) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, key === name ? nullableAt(one, rest) : one]);
  return Object.fromEntries(entries) as JsonObject;
}

function nullable(schema: JsonObject): JsonObject {
  const { type, enum: values, const: constant } = schema;
  const types: readonly JsonValue[] = Array.isArray(type)
    ? (type as readonly JsonValue[])
    : type === undefined
      ? []
      : [type];
  const own = Object.entries(schema).filter(([key]) => key !== 'const');
  const choices = Array.isArray(values) ? (values as readonly JsonValue[]) : constant === undefined ? null : [constant];
  return {
    ...Object.fromEntries(own),
    ...(types.length === 0 || types.includes('null') ? {} : { type: [...types, 'null'] }),
    ...(choices === null ? {} : { enum: choices.includes(null) ? choices : [...choices, null] }),
  };
}
