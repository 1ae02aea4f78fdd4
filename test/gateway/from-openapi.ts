import fc from 'fast-check';

export type Schema = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Described {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
  };
  readonly responses: Readonly<Record<string, unknown>>;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** A request as it goes out: nothing is made proper on the way. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

const odd = [
  '',
  '\u0000',
  '../..',
  '%',
  '%ff',
  "' OR 1=1 --",
  '\ud800',
  '🜁',
  '__proto__',
  'constructor',
  '-1',
  '1e999',
  '9'.repeat(40),
  'x'.repeat(5_000),
];

const plain = fc.constantFrom('Hello', 'a', 'there', 's', '1', '0', 'agent.steps', '2026-01-31T12:00:00Z');
const texts = fc.oneof(
  { weight: 4, arbitrary: plain },
  fc.constantFrom(...odd),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string(),
);

/** Values that a schema of the description allows. */
function valid(schema: Schema, document: Document, depth = 0): fc.Arbitrary<unknown> {
  const inner = (one: unknown): fc.Arbitrary<unknown> => valid(one as Schema, document, depth + 1);
  if (depth > 5) return fc.constant(null);
  if (typeof schema['$ref'] === 'string') {
    const name = schema['$ref'].split('/').at(-1) ?? '';
    return valid(document.components.schemas[name] ?? {}, document, depth + 1);
  }
  if ('const' in schema) return fc.constant(schema['const']);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
  if (Array.isArray(schema['anyOf'])) return fc.oneof(...schema['anyOf'].map(inner));
  const types = ([schema['type'] ?? 'any'] as (string | readonly string[])[]).flat();
  return fc.oneof(...types.map((type) => ofType(type, schema, inner)));
}

function ofType(type: string, schema: Schema, inner: (one: unknown) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.oneof(fc.maxSafeInteger(), fc.integer({ min: 0, max: 100 }));
    case 'number':
      return fc.double({ noNaN: true });
    case 'string':
      return texts;
    case 'array':
      return fc.array(inner(schema['items'] ?? {}), { maxLength: 3 });
    case 'object': {
      const properties = (schema['properties'] ?? {}) as Readonly<Record<string, unknown>>;
      const values = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, inner(one)]));
      const required = ((schema['required'] ?? []) as readonly string[]).filter((name) => name in values);
      return some(values, required);
    }
    default:
      return fc.jsonValue();
  }
}

/** The required members and a few others: with all of them hardly any object would be accepted. */
function some(
  values: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  required: readonly string[],
): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const others = Object.keys(values).filter((name) => !required.includes(name));
  const chosen = fc.oneof(
    fc.constant([]),
    fc.subarray(others, { maxLength: Math.min(2, others.length) }),
    fc.subarray(others),
  );
  return chosen.chain((names: readonly string[]) =>
    fc.record(Object.fromEntries([...required, ...names].map((name) => [name, values[name] ?? fc.constant(null)]))),
  );
}

/** A body as described, one with a member that is something else, any JSON, or any bytes. */
function bodies(schema: Schema, document: Document): fc.Arbitrary<Buffer> {
  const good = valid(schema, document);
  const names = fc.constantFrom(...Object.keys(document.components.schemas['AgentRequest']?.['properties'] ?? {}), 'x');
  const bad = fc
    .tuple(good, names, fc.jsonValue())
    .map(([value, name, other]) => (typeof value === 'object' && value !== null ? { ...value, [name]: other } : other));
  const json = fc.oneof({ weight: 4, arbitrary: good }, { weight: 4, arbitrary: bad }, fc.jsonValue());
  const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
  const broken = json.map((value) => Buffer.from((JSON.stringify(value) ?? '').slice(0, -1)));
  const written = json.map((value) => Buffer.from(JSON.stringify(value) ?? ''));
  return fc.oneof({ weight: 8, arbitrary: written }, broken, bytes);
}

/** What a header may hold so that it can be sent at all. */
const headerTexts = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 30 }),
  fc.constantFrom(
    'wait=1',
    'wait=-1',
    'wait=99999999999999999999',
    'text/event-stream',
    '*/*;q=0',
    'x'.repeat(1_000),
    '"',
  ),
);

const extraHeaders = fc.record(
  {
    accept: fc.oneof(
      fc.constantFrom('application/json', 'text/csv', 'text/event-stream', 'text/vnd.mermaid'),
      headerTexts,
    ),
    'content-type': fc.oneof(
      { weight: 6, arbitrary: fc.constant('application/json') },
      fc.constantFrom('application/json; charset=utf-16', 'text/plain', 'application/json; charset=x'),
      headerTexts,
    ),
    'content-encoding': fc.constantFrom('identity', 'gzip', 'br', 'x'),
    authorization: headerTexts,
    traceparent: headerTexts,
    'idempotency-key': headerTexts,
    'if-none-match': headerTexts,
  },
  { requiredKeys: ['content-type'] },
);

/** Requests to an operation of the description, proper ones among them. */
export function requestsTo(
  path: string,
  method: string,
  { parameters = [], requestBody }: Described,
  document: Document,
): fc.Arbitrary<Sent> {
  const of = (place: Parameter['in']): readonly Parameter[] => parameters.filter((one) => one.in === place);
  const value = ({ schema }: Parameter): fc.Arbitrary<string> =>
    fc.oneof(
      valid(schema, document).map((one) => (Array.isArray(one) ? one.join(',') : String(one))),
      texts,
    );
  const named = (place: Parameter['in'], values: (one: Parameter) => fc.Arbitrary<string>) =>
    some(
      Object.fromEntries(of(place).map((one) => [one.name, values(one)])),
      place === 'path' ? of(place).map(({ name }) => name) : [],
    ) as fc.Arbitrary<Readonly<Record<string, string>>>;
  const surplus = fc.array(fc.tuple(texts, texts), { maxLength: 2 });
  const schema = requestBody?.content['application/json']?.schema;
  const files = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
  const body =
    requestBody?.content['*/*'] !== undefined
      ? fc.option(files, { freq: 10 })
      : schema === undefined
        ? fc.constant(null)
        : fc.option(bodies(schema, document), { freq: 10 });
  return fc
    .record({
      places: named('path', value),
      query: named('query', value),
      more: fc.oneof({ weight: 5, arbitrary: fc.constant([]) }, surplus),
      own: fc.oneof(
        { weight: 2, arbitrary: fc.constant({}) },
        named('header', () => headerTexts),
      ),
      extra: fc.oneof({ weight: 2, arbitrary: fc.constant({ 'content-type': 'application/json' }) }, extraHeaders),
      body,
    })
    .map(({ places, query, more, own, extra, body: sent }) => {
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encoded(places[name] ?? ''));
      const pairs = [...Object.entries(query), ...more].map(([name, text]) => `${encoded(name)}=${encoded(text)}`);
      return {
        method: method.toUpperCase(),
        path: pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`,
        headers: Object.fromEntries(Object.entries({ ...extra, ...own }).filter(([, text]) => text !== '')),
        body: sent,
      };
    });
}

/** The request that the description shows, but for its headers. */
export function exampleOf(path: string, method: string, { parameters = [], requestBody }: Described): Sent {
  const shown = (place: Parameter['in']): readonly (readonly [string, string])[] =>
    parameters.flatMap(({ name, in: where, example }) =>
      where === place && example !== undefined ? [[name, encodeURIComponent(String(example))] as const] : [],
    );
  const places = new Map(shown('path'));
  const body = requestBody?.content['application/json']?.example;
  return {
    method: method.toUpperCase(),
    path: `${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => places.get(name) ?? '')}?${shown('query')
      .map((pair) => pair.join('='))
      .join('&')}`,
    headers: { 'content-type': 'application/json' },
    body: body === undefined ? null : Buffer.from(JSON.stringify(body)),
  };
}

/** As a client encodes it, but for what it cannot: that goes as it is, if it fits in a line. */
function encoded(text: string): string {
  return text === '%ff' || text === '%' ? text : encodeURIComponent(text.toWellFormed());
}
