import { type JsonObject, type JsonValue, isJsonObject } from '../json.js';
import { isDeeperThan, jsonBytes, JsonTooLargeError } from '../plain-json.js';
import { deepestSchema, schemaProblems } from './input-schema.js';
import { simplify } from './simple-schema.js';
import type { OfferedTool } from './offer.js';

/** Bytes of one schema: what is larger costs seconds to compile, and every prompt its tokens. */
const schemaBytes = 65_536;
/** Characters of a description. */
const descriptionCharacters = 16_384;

/** What a server's tool takes as it is offered to models, or why it cannot be offered, a sentence each. */
export type Taken =
  | {
      /** The server's own, byte for byte, where it is within the subset; else what the subset can say of it. */
      readonly inputSchema: JsonObject;
      /** JSON pointers into it, where it says it otherwise than the server does. */
      readonly simplified: readonly string[];
    }
  | { readonly problems: readonly string[] };

/** Brings what a server offers into the subset of input schemas, without allowing what the server does not. */
export function takeOffer({ description, inputSchema, outputSchema }: OfferedTool): Taken {
  if (description.length > descriptionCharacters)
    return {
      problems: [
        `Its description has ${String(description.length)} characters, and ${String(descriptionCharacters)} is the limit.`,
      ],
    };
  const size = sizeProblem('input', inputSchema) ?? sizeProblem('output', outputSchema);
  if (size !== null) return { problems: [size] };
  const remote = remoteReferences(outputSchema, '');
  const { schema, places, problems } =
    schemaProblems(inputSchema).length === 0
      ? { schema: inputSchema, places: [], problems: [] }
      : simplify(inputSchema, schemaBytes);
  const left = [...problems, ...schemaProblems(schema), ...remote];
  return left.length > 0 ? { problems: left } : { inputSchema: schema, simplified: places };
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
