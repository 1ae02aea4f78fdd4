import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { escaped, pathShown } from './input-schema.js';
import { currentSchema, mapSchemas } from './sound-schema.js';

/**
 * Names of arguments that every provider takes; Anthropic and Bedrock refuse the whole request for another one.
 * Inside arguments, any may stand.
 */
const takenName = /^[A-Za-z0-9_.-]{1,64}$/;

interface ProviderSchema {
  readonly schema: JsonObject;
  /** What is left out of it, a phrase each. */
  readonly narrowed: readonly string[];
  readonly problems: readonly string[];
}

/**
 * An input schema within the subset as the providers take it: an object with its arguments by name, lists with a
 * schema of their items, no definitions that nothing refers to, and no argument whose name they refuse.
 */
export function providerSchema(schema: JsonObject): ProviderSchema {
  const mapped = mapSchemas(currentSchema(schema), (one) => withItems(withoutTrue(withoutDefinitions(one))));
  return withTakenNames(asObject(mapped));
}

function withoutDefinitions(schema: JsonObject): JsonObject {
  if (!Object.hasOwn(schema, '$defs') && !Object.hasOwn(schema, 'definitions')) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$defs' && key !== 'definitions'));
}

/** A schema that allows everything, as a map: not every provider knows the short form. */
function withoutTrue(schema: JsonObject): JsonObject {
  const { properties, items } = schema;
  const named = isJsonObject(properties) && Object.values(properties).includes(true);
  if (!named && items !== true) return schema;
  const written = (one: JsonValue): JsonValue => (one === true ? {} : one);
  return {
    ...schema,
    ...(named
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, written(one)])) }
      : {}),
    ...(items === true ? { items: {} } : {}),
  };
}

function withItems(schema: JsonObject): JsonObject {
  const isArray = schema['type'] === 'array' || (Array.isArray(schema['type']) && schema['type'].includes('array'));
  const hasItems = Object.hasOwn(schema, 'items') || Object.hasOwn(schema, 'prefixItems');
  return isArray && !hasItems ? { ...schema, items: {} } : schema;
}

/** Arguments are an object, so this allows nothing less. */
function asObject(schema: JsonObject): JsonObject {
  const { type, nullable } = schema;
  const isObject = type === 'object' && nullable === undefined && isJsonObject(schema['properties']);
  const mayBe = type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'));
  if (isObject || !mayBe) return schema;
  const rest = Object.entries(schema).filter(([key]) => key !== 'nullable');
  return { ...Object.fromEntries(rest), type: 'object', properties: schema['properties'] ?? {} };
}

function withTakenNames(schema: JsonObject): ProviderSchema {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return { schema, narrowed: [], problems: [] };
  const refused = Object.keys(properties).filter((name) => !takenName.test(name));
  if (refused.length === 0) return { schema, narrowed: [], problems: [] };
  const needed = refused.filter((name) => Array.isArray(required) && required.includes(name));
  const kept = Object.entries(properties).filter(([name]) => !refused.includes(name));
  return {
    // Closed, so that nothing passes under such a name unchecked.
    schema: { ...schema, properties: Object.fromEntries(kept), additionalProperties: false },
    narrowed: refused.map((name) => `without ${placeOf(name)}, a name that model providers refuse`),
    problems: needed.map(
      (name) =>
        `The input schema requires ${placeOf(name)}, a name that model providers refuse: rename it on the server, to at most 64 letters, digits, \`_\`, \`.\` and \`-\`.`,
    ),
  };
}

function placeOf(name: string): string {
  return pathShown(`/properties/${escaped(name)}`);
}
