import type { YamlPosition } from './yaml-position.js';

type Schema = Readonly<Record<string, unknown>>;

/** What can be written at a place. */
interface Possible {
  readonly name: string;
  readonly description: string | null;
}

/** References that are followed, one behind the other. */
const mostHops = 12;

/** The keys, or the values, that the schema knows at a place of a YAML text, in the schema’s order. */
export function possibleAt(root: Schema, { path, kind }: Pick<YamlPosition, 'path' | 'kind'>): readonly Possible[] {
  let here = alternatives(root, root);
  for (const name of path) here = here.flatMap((schema) => alternatives(within(schema, name), root));
  const found = new Map<string, string | null>();
  for (const schema of here) {
    const names = kind === 'key' ? keysOf(schema) : valuesOf(schema);
    for (const { name, description } of names) found.set(name, found.get(name) ?? description);
  }
  return [...found].map(([name, description]) => ({ name, description }));
}

function within(schema: Schema, name: string): unknown {
  if (name === '[]') return schema['items'];
  const { properties, additionalProperties } = schema;
  if (isSchema(properties) && Object.hasOwn(properties, name)) return properties[name];
  return additionalProperties;
}

/** The schemas that a value may keep to, with references and unions taken apart. */
function alternatives(schema: unknown, root: Schema, hops = 0): readonly Schema[] {
  if (!isSchema(schema) || hops > mostHops) return [];
  const reference = schema['$ref'];
  if (typeof reference === 'string') return alternatives(targetOf(reference, root), root, hops + 1);
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : []));
  return [schema, ...parts.flatMap((part) => alternatives(part, root, hops + 1))];
}

function targetOf(reference: string, root: Schema): unknown {
  let at: unknown = root;
  for (const part of reference.replace(/^#\/?/, '').split('/'))
    at = isSchema(at) && Object.hasOwn(at, part) ? at[part] : undefined;
  return at;
}

function keysOf({ properties }: Schema): readonly Possible[] {
  if (!isSchema(properties)) return [];
  return Object.entries(properties).map(([name, schema]) => ({ name, description: descriptionOf(schema) }));
}

function valuesOf(schema: Schema): readonly Possible[] {
  const values = Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : [];
  const all = schema['type'] === 'boolean' ? [true, false, ...values] : values;
  return all
    .filter((value) => ['string', 'number', 'boolean'].includes(typeof value))
    .map((value: unknown) => ({ name: String(value), description: null }));
}

function descriptionOf(schema: unknown): string | null {
  const description = isSchema(schema) ? schema['description'] : undefined;
  return typeof description === 'string' ? description : null;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
