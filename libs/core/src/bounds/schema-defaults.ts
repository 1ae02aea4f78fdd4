import { type JsonObject, type JsonValue, isJsonObject } from '../json.js';

/**
 * The arguments with the values that the schema gives those that are left out: a tool that takes its default for an
 * amount is held to the bounds of the amount. A default of null says that there is no value, so what has it stays left
 * out.
 */
export function withSchemaDefaults(schema: JsonValue | undefined, args: JsonValue): JsonValue {
  if (!isJsonObject(schema)) return args;
  if (Array.isArray(args)) {
    const items = args as readonly JsonValue[];
    const all = items.map((item) => withSchemaDefaults(schema['items'], item));
    return all.every((item, place) => item === items[place]) ? args : all;
  }
  const { properties } = schema;
  if (!isJsonObject(args) || !isJsonObject(properties)) return args;
  let all: Record<string, JsonValue> | null = null;
  for (const [name, property] of Object.entries(properties)) {
    const value = valueFor(args, name, property);
    if (value === undefined || (Object.hasOwn(args, name) && value === args[name])) continue;
    all ??= { ...args };
    Object.defineProperty(all, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return all ?? args;
}

function valueFor(args: JsonObject, name: string, property: JsonValue): JsonValue | undefined {
  if (Object.hasOwn(args, name)) return withSchemaDefaults(property, args[name] as JsonValue);
  return isJsonObject(property) && Object.hasOwn(property, 'default') ? (property['default'] ?? undefined) : undefined;
}
