import { type JsonObject, type JsonValue, isJsonObject } from '../json.js';

/** A description, and the arguments of the example that it ends with. */
interface WithExample {
  readonly text: string;
  readonly example: JsonObject | null;
}

/** Takes “Example: { … }.” from the end of a description. */
export function exampleIn(description: string): WithExample {
  const at = description.lastIndexOf('Example: {');
  if (at === -1) return { text: description, example: null };
  const written = description
    .slice(at + 'Example: '.length)
    .trim()
    .replace(/\.$/, '');
  try {
    const example: unknown = JSON.parse(written);
    return isJsonObject(example)
      ? { text: description.slice(0, at).trimEnd(), example }
      : { text: description, example: null };
  } catch {
    return { text: description, example: null };
  }
}

/**
 * Arguments that fit a schema, for a tool that shows none: those it requires, with the first value that each allows.
 */
export function sampleOf(schema: JsonObject): JsonObject {
  const sample = valueOf(schema, schema, 0);
  return isJsonObject(sample) ? sample : {};
}

/** Levels of a schema that a sample goes into: one may refer to itself. */
const deepest = 8;

function valueOf(schema: JsonValue | undefined, root: JsonObject, depth: number): JsonValue {
  if (!isJsonObject(schema) || depth > deepest) return null;
  for (const name of ['const', 'default'] as const) if (schema[name] !== undefined) return schema[name];
  for (const name of ['enum', 'examples'] as const) {
    const list = schema[name];
    if (Array.isArray(list) && list[0] !== undefined) return list[0];
  }
  const referred = referredTo(schema['$ref'], root);
  if (referred !== undefined) return valueOf(referred, root, depth + 1);
  for (const name of ['anyOf', 'oneOf', 'allOf'] as const) {
    const list = schema[name];
    if (Array.isArray(list) && schema['type'] === undefined) return valueOf(list[0], root, depth + 1);
  }
  return ofType(schema, root, depth);
}

function ofType(schema: JsonObject, root: JsonObject, depth: number): JsonValue {
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type) {
    case 'string':
      return 'text'.padEnd(numberOf(schema['minLength']) ?? 0, ' text').slice(0, numberOf(schema['maxLength']) ?? 80);
    case 'integer':
    case 'number':
      return numberOf(schema['minimum']) ?? Math.min(1, numberOf(schema['maximum']) ?? 1);
    case 'boolean':
      return true;
    case 'array': {
      const count = Math.max(1, numberOf(schema['minItems']) ?? 1);
      return Array.from({ length: Math.min(count, deepest) }, () => valueOf(schema['items'] ?? {}, root, depth + 1));
    }
    case 'object':
      return ofProperties(schema, root, depth);
    default:
      return isJsonObject(schema['properties']) ? ofProperties(schema, root, depth) : null;
  }
}

function ofProperties({ properties, required }: JsonObject, root: JsonObject, depth: number): JsonObject {
  if (!isJsonObject(properties) || !Array.isArray(required)) return {};
  const names = required.filter((name): name is string => typeof name === 'string' && Object.hasOwn(properties, name));
  return Object.fromEntries(names.map((name) => [name, valueOf(properties[name], root, depth + 1)]));
}

function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** What a reference within the schema leads to. */
export function referredTo(reference: JsonValue | undefined, root: JsonObject): JsonValue | undefined {
  const [, place, name] =
    /^#\/(\$defs|definitions)\/([^/]+)$/.exec(typeof reference === 'string' ? reference : '') ?? [];
  const definitions = place === undefined ? undefined : root[place];
  return isJsonObject(definitions) && name !== undefined && Object.hasOwn(definitions, name)
    ? definitions[name]
    : undefined;
}
