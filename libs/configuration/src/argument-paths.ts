import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

/** What may describe further arguments than `properties` does. */
const otherWays = ['$ref', 'anyOf', 'oneOf', 'allOf', 'if', 'patternProperties'];

/** Whether the schema has an argument at this path; also where that cannot be said. */
export function hasPath(schema: JsonValue, parts: readonly string[]): boolean {
  const [part, ...rest] = parts;
  if (part === undefined || !isJsonObject(schema)) return true;
  if (otherWays.some((way) => Object.hasOwn(schema, way))) return true;
  const { properties, additionalProperties, items } = schema;
  if (part === '*') {
    if (isJsonObject(items)) return hasPath(items, rest);
    return !isJsonObject(properties) || Object.values(properties).some((one) => hasPath(one, rest));
  }
  if (!isJsonObject(properties)) return !isJsonObject(items);
  if (Object.hasOwn(properties, part)) return hasPath(properties[part] as JsonValue, rest);
  return additionalProperties === true || isJsonObject(additionalProperties);
}

/** Names of the arguments. */
export function argumentNames(schema: JsonObject): readonly string[] {
  const { properties } = schema;
  return isJsonObject(properties) ? Object.keys(properties) : [];
}
