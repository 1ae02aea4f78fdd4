import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import type { Writable } from '../json/json-text.js';

/** What an answer’s schema is called where a wire wants a name. */
export const answerName = 'answer';

/** How OpenAI’s wires name an answer’s schema. */
export function namedForm(schema: JsonObject): { readonly [key: string]: Writable } {
  return { name: answerName, schema: schema as Writable, strict: isStrict(schema) };
}

/** How Anthropic’s bodies say it; undefined where the API would refuse the schema. */
export function anthropicForm(schema: JsonObject | undefined): Writable | undefined {
  if (schema === undefined || !isClosed(schema)) return undefined;
  return { format: { type: 'json_schema', schema: schema as Writable } };
}

/** Whether every object in it allows its own members alone, which providers want that hold a model to a schema. */
export function isClosed(schema: JsonObject): boolean {
  return everyObject(schema, (one) => one['additionalProperties'] === false);
}

/** OpenAI holds a model to the schema where every member is required besides, and refuses any other as strict. */
function isStrict(schema: JsonObject): boolean {
  return everyObject(schema, ({ additionalProperties, properties = {}, required }) => {
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    return additionalProperties === false && names.every((name) => Array.isArray(required) && required.includes(name));
  });
}

function everyObject(value: JsonValue, holds: (schema: JsonObject) => boolean): boolean {
  if (Array.isArray(value)) return value.every((one: JsonValue) => everyObject(one, holds));
  if (!isJsonObject(value)) return true;
  const isOfObjects = value['type'] === 'object' || isJsonObject(value['properties']);
  return (!isOfObjects || holds(value)) && Object.values(value).every((one) => everyObject(one, holds));
}
