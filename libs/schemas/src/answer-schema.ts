import { isDeeperThan, isJsonObject, utf8Length } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { deepestSchema } from './input-schema.js';
import { withLocalReferences } from './local-references.js';
import { found } from './schema-reference.js';
import { soundSchema } from './sound-schema.js';

/** What a schema for answers may have; `parts` are its values, at every depth. */
export const answerSchemaLimits = { bytes: 32_768, levels: deepestSchema, parts: 2_000 } as const;

/**
 * What keeps a JSON text from being a schema for answers, as a sentence about `field` that says what to write; null
 * if nothing does.
 */
export function answerSchemaProblem(text: string, field = 'answer_schema'): string | null {
  const { bytes, levels, parts } = answerSchemaLimits;
  const size = utf8Length(text);
  if (size > bytes) return `${field} has ${size} bytes and the limit is ${bytes}. Give a shorter schema.`;
  let schema: JsonValue;
  try {
    schema = JSON.parse(text) as JsonValue;
  } catch {
    return `${field} is no JSON. Write a JSON Schema as JSON text.`;
  }
  if (!isJsonObject(schema)) return `${field} is no JSON object. Write a JSON Schema, such as {"type": "object"}.`;
  if (isDeeperThan(schema, levels)) return `${field} is nested deeper than ${levels} levels. Give a flatter schema.`;
  const count = partsOf(schema);
  if (count > parts) return `${field} has ${count} parts and the limit is ${parts}. Give a smaller schema.`;
  const local = withLocalReferences(schema);
  const odd = foreignReference(local, local);
  if (odd !== null)
    return `${field} refers to ${JSON.stringify(odd.slice(0, 200))}, which is not in it. Put that schema under $defs.`;
  const [problem] = soundSchema(local).problems;
  // The sentences are of schemas that servers send.
  return problem === undefined ? null : `${field}: ${problem.replace(/ on the server\.$/, '.')}`;
}

/** The schema in a text that has no problem, with every reference as a JSON pointer. */
export function readAnswerSchema(text: string): JsonObject {
  return withLocalReferences(JSON.parse(text) as JsonObject);
}

function partsOf(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, one: JsonValue) => sum + partsOf(one), 1);
}

/** The first reference that leads out of the document, or nowhere in it; null if there is none. */
function foreignReference(value: JsonValue, root: JsonObject): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, one] of Object.entries(value)) {
    const isReference = typeof one === 'string' && (key === '$ref' || key === '$dynamicRef' || key === '$recursiveRef');
    if (isReference && !(one.startsWith('#') && found(root, one) !== null)) return one;
    const inside = foreignReference(one as JsonValue, root);
    if (inside !== null) return inside;
  }
  return null;
}
