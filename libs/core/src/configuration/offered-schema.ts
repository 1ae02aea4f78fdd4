import { type JsonValue, isJsonObject } from '../json.js';
import { isDeeperThan, jsonBytes, JsonTooLargeError } from '../plain-json.js';
import { deepestSchema, schemaProblems } from './input-schema.js';
import type { OfferedTool } from './types.js';

/** Bytes of one schema: what is larger costs seconds to compile, and every prompt its tokens. */
const schemaBytes = 65_536;
/** Characters of a description. */
const descriptionCharacters = 16_384;

/** Why a server's tool cannot be taken as it is offered, a sentence each; empty if it can. */
export function offerProblems({ description, inputSchema, outputSchema }: OfferedTool): readonly string[] {
  if (description.length > descriptionCharacters)
    return [
      `Its description has ${String(description.length)} characters, and ${String(descriptionCharacters)} is the limit.`,
    ];
  const size = sizeProblem('input', inputSchema) ?? sizeProblem('output', outputSchema);
  if (size !== null) return [size];
  return [...schemaProblems(inputSchema), ...remoteReferences(outputSchema, '')];
}

function sizeProblem(which: string, schema: JsonValue): string | null {
  if (isDeeperThan(schema, deepestSchema))
    return `The ${which} schema is nested deeper than ${String(deepestSchema)} levels.`;
  try {
    jsonBytes(schema, schemaBytes);
    return null;
  } catch (error) {
    if (!(error instanceof JsonTooLargeError)) throw error;
    return `The ${which} schema has more than ${String(schemaBytes)} bytes, which is the limit.`;
  }
}

/** Output schemas may refer to themselves. What they would have fetched is never fetched, so they cannot be used. */
function remoteReferences(schema: JsonValue, path: string): string[] {
  if (Array.isArray(schema))
    return schema.flatMap((item: JsonValue, at) => remoteReferences(item, `${path}/${String(at)}`));
  if (!isJsonObject(schema)) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    const remote = (key === '$ref' || key === '$dynamicRef') && typeof value === 'string' && !value.startsWith('#');
    if (remote) return [`The output schema refers to another document at ${path || '/'}, and nothing is fetched.`];
    return remoteReferences(value, `${path}/${key}`);
  });
}
