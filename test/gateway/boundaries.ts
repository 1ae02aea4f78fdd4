import type { Described, Document, Schema } from './from-openapi.js';

/** A request with one value at a bound of its schema, and which. */
export interface AtBound {
  readonly what: string;
  readonly places: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

type Values = Readonly<Record<string, unknown>>;

/** Texts that a pattern may ask for; which of them fit, the schema says. */
const candidates = [
  'a',
  '*',
  '0',
  '30m',
  '2026-01-31',
  '2026-01-31T12:00:00Z',
  'user:ann',
  '{"a":1}',
  'ä€',
  '..a',
  'W10',
];

/** The least and the most that a schema allows of each kind, as far as that is told by its words. */
export function boundsOf(schema: Schema, document: Document, isValid: (value: unknown) => boolean): readonly unknown[] {
  const ref = schema['$ref'];
  if (typeof ref === 'string')
    return boundsOf(document.components.schemas[ref.split('/').at(-1) ?? ''] ?? {}, document, isValid);
  const {
    enum: listed,
    minLength = 0,
    maxLength = 300,
    minimum,
    maximum,
    items,
  } = schema as Values & {
    readonly minLength?: number;
    readonly maxLength?: number;
  };
  if (Array.isArray(listed)) return listed;
  const types = [schema['type'] ?? (Array.isArray(schema['anyOf']) ? 'null' : 'string')].flat();
  const texts = [...candidates, 'a'.repeat(minLength), 'a'.repeat(maxLength), ''];
  const values = types.flatMap((type): readonly unknown[] => {
    if (type === 'string') return schema['contentMediaType'] === 'application/json' ? ['{}', '{"a":"ä"}'] : texts;
    if (type === 'integer') return [minimum ?? 0, maximum ?? 9, 1];
    if (type === 'array') return [[], ...boundsOf(items as Schema, document, () => true).map((one) => [one])];
    if (type === 'object') return membersAtBounds(schema, {}, document).map(([, value]) => value);
    return [null];
  });
  return [...new Map(values.filter(isValid).map((value) => [JSON.stringify(value), value])).values()];
}

function membersAtBounds(schema: Schema, base: Values, document: Document): readonly (readonly [string, Values])[] {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>;
  const required = (schema['required'] ?? []) as readonly string[];
  const least = Object.fromEntries(required.map((name) => [name, base[name] ?? 'a']));
  return Object.entries(properties).flatMap(([name, one]) =>
    boundsOf(one, document, () => true).map((value) => [name, { ...least, ...base, [name]: value }] as const),
  );
}

/** The example of the operation with one value after the other at a bound. */
export function atBounds(
  { parameters = [], requestBody }: Described,
  document: Document,
  isValid: (schema: Schema, value: unknown) => boolean,
): readonly AtBound[] {
  const of = (place: string): Values =>
    Object.fromEntries(
      parameters.flatMap((one) => (one.in === place && one.example !== undefined ? [[one.name, one.example]] : [])),
    );
  const content = requestBody?.content['application/json'];
  const base = { places: of('path'), query: of('query'), body: content?.example };
  const fromQuery = parameters.flatMap(({ name, in: place, schema }) => {
    // A cursor is of the page before.
    if (place === 'header' || name === 'cursor') return [];
    const part = place === 'path' ? 'places' : 'query';
    return boundsOf(schema, document, (value) => isValid(schema, value)).map((value) => ({
      ...base,
      what: `${name} = ${JSON.stringify(value)?.slice(0, 60)}`,
      [part]: { ...base[part], [name]: value },
    }));
  });
  if (content === undefined) return [{ ...base, what: 'the example' }, ...fromQuery];
  const name = String(content.schema['$ref']).split('/').at(-1) ?? '';
  const bodies = membersAtBounds(document.components.schemas[name] ?? {}, content.example as Values, document);
  const fromBody = bodies.flatMap(([member, body]) =>
    isValid(content.schema, body)
      ? [{ ...base, what: `${member} = ${JSON.stringify(body[member])?.slice(0, 80)}`, body }]
      : [],
  );
  return [{ ...base, what: 'the example' }, ...fromQuery, ...fromBody];
}
