import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

const allKinds = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const;

/** A kind of value, as JSON Schema names it. */
export type Kind = (typeof allKinds)[number];

/**
 * The kinds of value that a schema takes at a place, by names and indexes from its root; null where it does not say,
 * `[]` where nothing may stand there.
 */
export function kindsAt(schema: JsonObject | null, path: readonly string[]): readonly Kind[] | null {
  const [name, ...rest] = path;
  if (schema === null) return null;
  if (name === undefined) return kindsOf(schema);
  if (alternatives(schema) !== null) return null;
  const { properties, items, additionalProperties } = schema;
  const kinds = kindsOf(schema);
  const isList = kinds?.includes('array') === true || items !== undefined;
  if (isList && /^\d+$/.test(name)) return isJsonObject(items) ? kindsAt(items, rest) : null;
  if (isJsonObject(properties) && Object.hasOwn(properties, name)) return kindsIn(properties[name], rest);
  if (isJsonObject(additionalProperties)) return kindsAt(additionalProperties, rest);
  const isClosed = additionalProperties === false && !Object.hasOwn(schema, 'patternProperties');
  const isNoObject = kinds !== null && !kinds.includes('object') && !kinds.includes('array');
  return isClosed || isNoObject ? [] : null;
}

function kindsIn(schema: JsonValue | undefined, path: readonly string[]): readonly Kind[] | null {
  return isJsonObject(schema) ? kindsAt(schema, path) : null;
}

function kindsOf(schema: JsonObject): readonly Kind[] | null {
  const { type } = schema;
  if (typeof type === 'string' || Array.isArray(type)) {
    const types = typeof type === 'string' ? [type] : type;
    return allKinds.filter((kind) => types.includes(kind));
  }
  const several = alternatives(schema);
  if (several === null) return null;
  const each = several.map((one) => (isJsonObject(one) ? kindsOf(one) : null));
  return each.includes(null) ? null : allKinds.filter((kind) => each.some((kinds) => kinds?.includes(kind)));
}

function alternatives({ anyOf, oneOf, allOf, $ref }: JsonObject): readonly JsonValue[] | null {
  if (Array.isArray(anyOf)) return anyOf as readonly JsonValue[];
  if (Array.isArray(oneOf)) return oneOf as readonly JsonValue[];
  return allOf !== undefined || $ref !== undefined ? [null] : null;
}

/** Whether no value is of a kind of both. */
export function areApart(one: readonly Kind[] | null, other: readonly Kind[] | null): boolean {
  if (one === null || other === null) return false;
  const isNumber = (kind: Kind): boolean => kind === 'number' || kind === 'integer';
  return !one.some((kind) => other.includes(kind) || (isNumber(kind) && other.some(isNumber)));
}
