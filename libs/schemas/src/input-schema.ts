import { isDeeperThan, isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

/** Constructs outside the subset that every model's wire format takes, and every `$ref`. */
const refused = ['oneOf', 'anyOf', 'allOf', 'not', 'if', 'then', 'else', 'patternProperties', '$ref'] as const;

/** Keywords that hold one schema, a list of schemas, or schemas by name. */
export const nested = [
  'items',
  'additionalItems',
  'additionalProperties',
  'contains',
  'propertyNames',
  'prefixItems',
  'unevaluatedProperties',
  'unevaluatedItems',
] as const;
export const nestedByName = ['properties', 'definitions', '$defs', 'dependencies', 'dependentSchemas'] as const;

/** An argument of this name would let a model choose a connection. */
const reservedProperty = 'connectionId';

/** Levels of nesting that a schema may have. */
export const deepestSchema = 64;

/**
 * What keeps a schema from being a tool's input schema, a sentence each with construct and JSON pointer; empty if it
 * is one: type object at the top, no construct outside the restricted subset, and at any depth no property named
 * `connectionId`, which of a foreign server’s tool matters where that is bound to a connection here.
 */
export function schemaProblems(schema: JsonObject, isBound = true): readonly string[] {
  if (!isJsonObject(schema)) return ['The input schema is not an object.'];
  if (isDeeperThan(schema, deepestSchema))
    return [`The input schema is nested deeper than ${String(deepestSchema)} levels.`];
  const problems: string[] = [];
  if (schema['type'] !== 'object') problems.push('The input schema must have `"type": "object"` at the top.');
  check(schema, '', problems, isBound);
  return problems;
}

/**
 * The problems of a schema that stands somewhere inside another one; with `isBound` those of arguments that would
 * choose a connection, too.
 */
export function constructsIn(schema: JsonObject, path: string, isBound = false): readonly string[] {
  const problems: string[] = [];
  check(schema, path, problems, isBound);
  return problems;
}

function check(schema: JsonValue | undefined, path: string, problems: string[], isBound: boolean): void {
  if (Array.isArray(schema)) {
    (schema as readonly JsonValue[]).forEach((item, place) => {
      check(item, `${path}/${String(place)}`, problems, isBound);
    });
    return;
  }
  if (!isJsonObject(schema)) return;
  for (const construct of refused) {
    if (Object.hasOwn(schema, construct))
      problems.push(`The input schema uses \`${construct}\` at ${pathShown(path)}, which is not supported.`);
  }
  const required = schema['required'];
  if (isBound && Array.isArray(required) && required.includes(reservedProperty)) {
    problems.push(
      `The input schema requires \`${reservedProperty}\` at ${pathShown(path)}; connections are never arguments.`,
    );
  }
  for (const keyword of nested) check(schema[keyword], `${path}/${keyword}`, problems, isBound);
  for (const keyword of nestedByName) {
    const byName = schema[keyword];
    if (!isJsonObject(byName)) continue;
    for (const [name, value] of Object.entries(byName)) {
      const place = `${path}/${keyword}/${escaped(name)}`;
      if (isBound && keyword === 'properties' && name === reservedProperty) {
        problems.push(
          `The input schema has the property \`${reservedProperty}\` at ${pathShown(place)}; connections are never arguments.`,
        );
      }
      check(value, place, problems, isBound);
    }
  }
}

/** A name as a step of a JSON pointer (RFC 6901). */
export function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Characters of a path that are shown: names in it are a stranger's, who may have made them as long as the schema. */
const shownPath = 200;

/** A JSON pointer for a sentence, without what would steer a terminal. */
export function pathShown(path: string): string {
  const cut = path.length > shownPath ? `${path.slice(0, shownPath)}…` : path;
  return cut.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\uFFFD') || '/';
}
