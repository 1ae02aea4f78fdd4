/** The form of a tool’s arguments, made from their JSON schema: what it cannot show by a field stays JSON text. */
interface Named {
  readonly name: string;
  readonly label: string;
  readonly description: string | null;
  readonly isRequired: boolean;
}

export type Field = Named &
  (
    | { readonly kind: 'text'; readonly isLong: boolean; readonly format: string | null }
    | { readonly kind: 'number'; readonly isInteger: boolean; readonly min: number | null; readonly max: number | null }
    | { readonly kind: 'boolean' }
    | { readonly kind: 'choice'; readonly options: readonly Option[] }
    | { readonly kind: 'list'; readonly item: Field; readonly most: number }
    | { readonly kind: 'object'; readonly fields: readonly Field[] }
    /** `takesText`: what is no JSON is a text. */
    | { readonly kind: 'json'; readonly takesText: boolean }
  ) & { readonly start: unknown };

interface Option {
  readonly label: string;
  readonly value: unknown;
}

type Schema = Readonly<Record<string, unknown>>;

/** Deeper than this, and of more names than this, a part of the arguments is written as JSON. */
const deepest = 6;
const mostFields = 200;
const mostItems = 100;

/** The fields of a schema; null where the arguments are no object with named properties. */
export function fieldsOf(schema: unknown): readonly Field[] | null {
  if (!isSchema(schema)) return null;
  const root = read(schema, schema, 0);
  if (root === null || root.schema['type'] !== 'object') return null;
  return propertiesOf(root.schema, schema, 0);
}

function propertiesOf(schema: Schema, root: Schema, depth: number): readonly Field[] | null {
  const properties = schema['properties'] ?? {};
  if (!isSchema(properties)) return null;
  const entries = Object.entries(properties);
  if (entries.length > mostFields) return null;
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  return entries.map(([name, each]) => fieldOf(name, each, required.has(name), root, depth + 1));
}

function fieldOf(name: string, given: unknown, isRequired: boolean, root: Schema, depth: number): Field {
  const found = isSchema(given) && depth <= deepest ? read(given, root, 0) : null;
  const outer = isSchema(given) ? given : {};
  const schema = found?.schema ?? {};
  const text = (key: string): string | null => {
    const value = outer[key] ?? schema[key];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const named = {
    ...{ name, label: text('title') ?? name, description: text('description'), isRequired },
    start: outer['default'] ?? schema['default'],
  };
  const json = { ...named, kind: 'json' as const, takesText: takesText(given) };
  if (found === null) return json;
  const options = optionsOf(schema);
  if (options !== null) return { ...named, kind: 'choice', options };
  switch (schema['type']) {
    case 'string':
      return { ...named, kind: 'text', isLong: isLong(schema), format: text('format') };
    case 'integer':
    case 'number':
      return {
        ...{ ...named, kind: 'number', isInteger: schema['type'] === 'integer' },
        ...{ min: numberOf(schema['minimum']), max: numberOf(schema['maximum']) },
      };
    case 'boolean':
      return { ...named, kind: 'boolean' };
    case 'array': {
      if (!isSchema(schema['items'])) return json;
      const item = fieldOf('', schema['items'], true, root, depth + 1);
      return { ...named, kind: 'list', item, most: Math.min(numberOf(schema['maxItems']) ?? mostItems, mostItems) };
    }
    case 'object': {
      const fields = isSchema(schema['properties']) ? propertiesOf(schema, root, depth) : null;
      return fields === null || fields.length === 0 ? json : { ...named, kind: 'object', fields };
    }
    default:
      return json;
  }
}

/** The schema behind references and unions with null; null where more than one kind of value is meant. */
function read(schema: Schema, root: Schema, hops: number): { readonly schema: Schema } | null {
  if (hops > 20) return null;
  const reference = schema['$ref'];
  if (typeof reference === 'string') {
    const target = targetOf(reference, root);
    return target === null ? null : read(target, root, hops + 1);
  }
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const parts = schema[key];
    if (!Array.isArray(parts)) continue;
    const others = parts.filter((part) => isSchema(part) && part['type'] !== 'null');
    if (key !== 'allOf' && others.length > 1 && others.every((part) => isSchema(part) && 'const' in part))
      return { schema: { enum: others.map((part) => (part as Schema)['const']) } };
    return others.length === 1 ? read(others[0] as Schema, root, hops + 1) : null;
  }
  const { type } = schema;
  if (Array.isArray(type)) {
    const others = type.filter((each) => each !== 'null');
    return others.length === 1 ? { schema: { ...schema, type: others[0] as unknown } } : null;
  }
  return { schema: type === undefined && isSchema(schema['properties']) ? { ...schema, type: 'object' } : schema };
}

function targetOf(reference: string, root: Schema): Schema | null {
  if (!reference.startsWith('#')) return null;
  let at: unknown = root;
  for (const part of reference.slice(1).split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return null;
    at = (at as Schema)[name];
  }
  return isSchema(at) ? at : null;
}

function optionsOf(schema: Schema): readonly Option[] | null {
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  if (!Array.isArray(values)) return null;
  return values
    .filter((value) => value !== null)
    .map((value: unknown) => ({ label: typeof value === 'string' ? value : JSON.stringify(value), value }));
}

function takesText(schema: unknown): boolean {
  if (!isSchema(schema)) return false;
  const { type } = schema;
  const parts = ['anyOf', 'oneOf'].flatMap((key) => (Array.isArray(schema[key]) ? (schema[key] as unknown[]) : []));
  return type === 'string' || (Array.isArray(type) && type.includes('string')) || parts.some(takesText);
}

function isLong({ maxLength, format, contentMediaType }: Schema): boolean {
  return contentMediaType !== undefined || (format === undefined && typeof maxLength === 'number' && maxLength > 500);
}

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
