import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

/** Values that one answer may have, as the protocol says. */
const mostValues = 100;

/** What may be written for an argument, as `completion/complete` has it. */
type Completion = { readonly values: string[]; readonly total: number; readonly hasMore: boolean };

/** The values of these that begin with what is written so far, whatever the case. */
export function completed(values: readonly string[], written: string): Completion {
  const begin = written.toLowerCase();
  const fitting = values.filter((value) => value.toLowerCase().startsWith(begin));
  return { values: fitting.slice(0, mostValues), total: fitting.length, hasMore: fitting.length > mostValues };
}

/** The values that an argument may have, where its schema lists them; none where it may be anything. */
export function listedValues(inputSchema: JsonObject, argument: string): readonly string[] {
  const properties = inputSchema['properties'];
  if (!isJsonObject(properties) || !Object.hasOwn(properties, argument)) return [];
  return [...new Set(valuesOf(properties[argument] ?? null))];
}

function valuesOf(schema: JsonValue): readonly string[] {
  if (!isJsonObject(schema)) return [];
  if (Array.isArray(schema['enum'])) return schema['enum'].flatMap(asText);
  if (schema['const'] !== undefined) return asText(schema['const']);
  if (schema['type'] === 'boolean') return ['true', 'false'];
  if (schema['type'] === 'array') return valuesOf(schema['items'] ?? null);
  const either = schema['anyOf'] ?? schema['oneOf'];
  return Array.isArray(either) ? either.flatMap(valuesOf) : [];
}

function asText(value: JsonValue): readonly string[] {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [String(value)] : [];
}
