import {
  hasRawNumbers,
  inexactNumbers,
  isDeeperThan,
  isJsonObject,
  jsonBytes,
  JsonTooLargeError,
  quote,
  withPlainNumbers,
} from '@sluice/core';
import type { JsonObject, JsonValue, OfferedTool } from '@sluice/core';
import { withLocalReferences } from './local-references.js';
import { constructsIn, deepestSchema, escaped, pathShown, schemaProblems } from './input-schema.js';
import { providerSchema } from './provider-schema.js';
import { found } from './schema-reference.js';
import { type SimpleSchema, simplify } from './simple-schema.js';
import { checkableSchema, soundSchema } from './sound-schema.js';

/** Bytes of one schema: what is larger costs seconds to compile, and every prompt its tokens. */
const schemaBytes = 65_536;
/** Characters of a description. */
const descriptionCharacters = 16_384;

/** Keywords that hold values, not schemas. */
const values = new Set(['default', 'const', 'enum', 'examples', 'example']);

/** What a server's tool takes as it is offered to models, or why it cannot be offered, a sentence each. */
type ConvertedOffer =
  | {
      /** The server's own, byte for byte, where models and providers take it so; else what can be said of it. */
      readonly inputSchema: JsonObject;
      /** JSON pointers into it, where it says it otherwise than the server does. */
      readonly simplified: readonly string[];
      /** What the server allows and this does not, a phrase each. */
      readonly narrowed: readonly string[];
      /**
       * JSON pointers into it to what may be null on the server, and is shown without: null is taken there and passed
       * on.
       */
      readonly nulls: readonly string[];
      /** What results are checked against, in the form that validators take. */
      readonly outputSchema: JsonObject | null;
    }
  | { readonly problems: readonly string[] };

/**
 * Brings what a server offers into a sound form and the subset of input schemas, without allowing what the server
 * does not. An argument `connectionId` is the server’s own business, unless the tool is bound to a connection here
 * (`isBound`).
 */
export function convertOffer(
  { description, inputSchema, outputSchema, headerProblems = [], problems: own = [] }: OfferedTool,
  isBound = false,
): ConvertedOffer {
  if (description.length > descriptionCharacters)
    return {
      problems: [
        `Its description has ${String(description.length)} characters, and ${String(descriptionCharacters)} is the limit.`,
      ],
    };
  const size = sizeProblem('input', inputSchema) ?? sizeProblem('output', outputSchema);
  if (size !== null) return { problems: [size] };
  const input = takeInput(inputSchema, isBound);
  const output = takeOutput(outputSchema);
  const problems = [...own, ...headerProblems, ...input.problems, ...output.problems];
  if (problems.length > 0) return { problems };
  const { schema, places, narrowed, nulls } = input;
  return { inputSchema: schema, simplified: places, narrowed, nulls, outputSchema: output.schema };
}

function takeInput(given: JsonObject, isBound: boolean): SimpleSchema {
  const inexact = inexactChoices('input', given);
  if (inexact.length > 0) return { schema: given, places: [], narrowed: [], nulls: [], problems: inexact };
  const { schema: sound } = soundSchema(withLocalReferences(plain(given)));
  const isSimple = constructsIn(sound, '').length === 0;
  const simple = isSimple
    ? { schema: sound, places: [], narrowed: [], nulls: [], problems: [] }
    : simplify(sound, schemaBytes);
  if (simple.problems.length > 0)
    return { ...simple, problems: [...simple.problems, ...constructsIn(simple.schema, '', isBound)] };
  const { schema, narrowed, problems } = providerSchema(soundSchema(simple.schema).schema);
  return {
    schema,
    places: simple.places,
    nulls: simple.nulls,
    narrowed: [...simple.narrowed, ...narrowed],
    problems: [...problems, ...schemaProblems(schema, isBound), ...soundSchema(schema).problems.map(of('input'))],
  };
}

function takeOutput(given: JsonObject | null): {
  readonly schema: JsonObject | null;
  readonly problems: readonly string[];
} {
  if (given === null) return { schema: null, problems: [] };
  const { schema: sound, problems } = soundSchema(withLocalReferences(plain(given)));
  const schema = checkableSchema(sound);
  const wrong = problems.map(of('output'));
  return { schema, problems: [...inexactChoices('output', given), ...wrong, ...brokenReferences(schema)] };
}

function of(which: 'input' | 'output'): (problem: string) => string {
  return (problem) => problem.replace(/^The schema/, `The ${which} schema`);
}

/** A server may write a limit as 1.0, or as the largest number that it knows. */
function plain(schema: JsonObject): JsonObject {
  return hasRawNumbers(schema) ? (withPlainNumbers(schema) as JsonObject) : schema;
}

/** Among values to choose from, a rounded number would be another choice. */
function inexactChoices(which: string, schema: JsonObject): readonly string[] {
  return inexactNumbers(schema)
    .filter((path) => path.includes('enum') || path.includes('const'))
    .map(
      (path) =>
        `The ${which} schema has a number with more digits than can be compared at ${pathShown(path.map((key) => `/${escaped(key)}`).join(''))}.`,
    );
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

/**
 * Output schemas may refer to themselves. What they would have fetched is never fetched, and what is not there cannot
 * be checked.
 */
function brokenReferences(root: JsonObject): string[] {
  const ended = new Set<JsonObject>();
  const inside = (schema: JsonValue, path: string): string[] => {
    if (Array.isArray(schema)) return schema.flatMap((item: JsonValue, at) => inside(item, `${path}/${String(at)}`));
    if (!isJsonObject(schema)) return [];
    return Object.entries(schema).flatMap(([key, value]) => {
      if (values.has(key)) return [];
      if (key !== '$ref' || typeof value !== 'string') return inside(value, `${path}/${escaped(key)}`);
      const where = pathShown(path);
      if (!value.startsWith('#'))
        return [`The output schema refers to another document at ${where}, and nothing is fetched.`];
      if (found(root, value) === null)
        return [`The output schema refers at ${where} to ${quote(value)}, where it has no schema.`];
      return isEndless(root, schema, new Set(), ended)
        ? [`The output schema refers at ${where} to ${quote(value)}, which leads back there without an end.`]
        : [];
    });
  };
  return inside(root, '');
}

/** Whether checking one value against a schema comes back to checking the same value against it. */
function isEndless(root: JsonObject, schema: JsonValue, around: Set<JsonObject>, ended: Set<JsonObject>): boolean {
  if (!isJsonObject(schema) || ended.has(schema)) return false;
  if (around.has(schema)) return true;
  around.add(schema);
  const { $ref, dependentSchemas, dependencies } = schema;
  const same = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'].flatMap((key) => schema[key] ?? []);
  const named = [dependentSchemas, dependencies].flatMap((one) => (isJsonObject(one) ? Object.values(one) : []));
  const referred = typeof $ref === 'string' ? found(root, $ref) : null;
  const endless = [...same, ...named, referred].some((one) => isEndless(root, one, around, ended));
  around.delete(schema);
  ended.add(schema);
  return endless;
}
