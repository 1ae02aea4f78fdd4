import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { longestSchemaPattern, regexFlags, soundSchema, convertOffer } from '@sluice/schemas';
import { ToolInputError } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { jsonSchemaInput, jsonSchemaOutput } from '@sluice/tools';

const offered = (inputSchema: JsonObject, outputSchema: JsonObject | null = null) =>
  convertOffer({ name: 't', description: '', inputSchema, outputSchema });
const inputOf = (inputSchema: JsonObject): JsonObject => {
  const taken = offered(inputSchema);
  if ('problems' in taken) throw new Error(taken.problems.join(' '));
  return taken.inputSchema;
};
const property = (one: JsonValue): JsonObject => ({ type: 'object', properties: { a: one } });
const passes = (check: (args: JsonValue) => JsonValue, value: JsonValue): boolean => {
  try {
    check(value);
    return true;
  } catch (error) {
    if (error instanceof ToolInputError && !error.message.includes('cannot be used')) return false;
    throw error;
  }
};

describe('a server’s schema that could not work as it is written', () => {
  const empty = { type: 'object', properties: {} };
  it.each<[string, JsonObject, JsonObject]>([
    ['properties of null', { type: 'object', properties: null }, empty],
    ['required of null', { type: 'object', properties: {}, required: null }, empty],
    ['nothing but a dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }, empty],
    ['nothing at all', {}, empty],
    ['an object or null', { type: ['object', 'null'], properties: {} }, empty],
    ['a nullable object', { type: 'object', nullable: true, properties: {} }, empty],
    ['an empty list for an empty map', { type: 'object', properties: [] }, empty],
    ['types in capitals', { type: 'OBJECT', properties: { a: { type: 'STRING' } } }, property({ type: 'string' })],
    ['types of another language', property({ type: ['int', null] }), property({ type: ['integer', 'null'] })],
    ['any type', property({ type: 'any' }), property({})],
    ['a property of null', property(null), property({})],
    ['a property of true', property(true), property({})],
    ['keywords of null', property({ type: 'string', enum: null, description: null, default: null }), property({ type: 'string', default: null })], // prettier-ignore
    [
      'an exclusive bound of draft 4',
      property({ minimum: 0, exclusiveMinimum: true }),
      property({ exclusiveMinimum: 0 }),
    ],
    [
      'a bound of draft 4 that is not exclusive',
      property({ maximum: 9, exclusiveMaximum: false }),
      property({ maximum: 9 }),
    ],
    [
      'draft 4’s exclusive bound of nothing',
      property({ type: 'integer', exclusiveMaximum: true }),
      property({ type: 'integer' }),
    ],
    ['a required property of draft 3', property({ type: 'string', required: true }), { ...property({ type: 'string' }), required: ['a'] }], // prettier-ignore
    ['an optional property of draft 3', property({ type: 'string', required: false }), property({ type: 'string' })],
    ['a name that is required twice', { ...property({}), required: ['a', 'a'] }, { ...property({}), required: ['a'] }],
    [
      'nullable without a type',
      property({ nullable: true, description: 'A note.' }),
      property({ description: 'A note.' }),
    ],
    [
      'not nullable, with null',
      property({ type: ['string', 'null'], nullable: false }),
      property({ type: ['string', 'null'] }),
    ],
    ['annotations of the wrong kind', property({ title: 1, examples: 'x', readOnly: 'no', format: 5 }), property({})],
    ['a value named twice', property({ enum: ['x', 'x', 'y'] }), property({ enum: ['x', 'y'] })],
    ['an array of nothing said', property({ type: 'array' }), property({ type: 'array', items: {} })],
    ['an empty list of items', property({ type: 'array', items: [] }), property({ type: 'array', items: {} })],
    ['a list of items', property({ type: 'array', items: [{ type: 'string' }], additionalItems: false }), property({ type: 'array', prefixItems: [{ type: 'string' }], items: false })], // prettier-ignore
    ['additionalItems of no list', property({ type: 'array', items: {}, additionalItems: false }), property({ type: 'array', items: {} })], // prettier-ignore
    ['names that another one needs twice', { ...empty, dependencies: { a: ['b', 'b'] }, dependentRequired: { a: ['b', 'b'] } }, { ...empty, dependencies: { a: ['b'] }, dependentRequired: { a: ['b'] } }], // prettier-ignore
    ['an empty allOf', property({ type: 'string', allOf: [] }), property({ type: 'string' })],
    [
      'names of drafts',
      { id: 'urn:x', $id: 'https://x.test/y', ...property({ $id: 'z', id: 'z', $anchor: 'b' }) },
      property({}),
    ],
    ['a schema that would be checked later', { $async: true, ...property({ $async: true }) }, property({})],
    ['definitions that nothing refers to', { ...empty, $defs: { A: { type: 'date' } }, definitions: { B: 5 } }, empty],
  ])('is offered in a sound form that says the same: %s', (_, schema, wanted) => {
    const before = JSON.stringify(schema);
    expect(inputOf(schema)).toEqual(wanted);
    expect(JSON.stringify(schema)).toBe(before);
    new Ajv2020({ strict: false, logger: false }).compile(inputOf(schema));
    expect(passes(jsonSchemaInput(inputOf(schema)), 5)).toBe(false);
  });

  it.each<[string, JsonObject, string]>([
    ['an unknown type', property({ type: 'date' }), 'The input schema has the type "date" at /properties/a/type: write one of string, number, integer, boolean, object, array and null on the server.'], // prettier-ignore
    ['no type', property({ type: [] }), 'The input schema has no type at /properties/a/type'],
    ['an empty enum', property({ enum: [] }), 'The input schema has no value to choose from at /properties/a/enum: list them, or leave `enum` out on the server.'], // prettier-ignore
    ['a pattern of Python', property({ pattern: '(?i)^a\\Z' }), 'The input schema has no regular expression of ECMAScript at /properties/a/pattern: write one on the server.'], // prettier-ignore
    ['a limit in words', property({ maximum: 'ten' }), 'The input schema has no number at /properties/a/maximum'],
    [
      'a length below 0',
      property({ maxLength: -1 }),
      'The input schema has no whole number from 0 on at /properties/a/maxLength',
    ],
    [
      'names that are no list',
      { ...property({}), required: 'a' },
      'The input schema has no list of names at /required',
    ],
    [
      'a word for a schema',
      property('string'),
      'The input schema has no schema at /properties/a: write one on the server.',
    ],
    ['another type at the top', { type: 'string' }, 'The input schema must have `"type": "object"` at the top.'],
    ['a choice with rounded numbers', property({ enum: [JSON.rawJSON('725653563933458433') as unknown as number] }), 'The input schema has a number with more digits than can be compared at /properties/a/enum/0.'], // prettier-ignore
    ['a required name with a sign', { ...property({}), properties: { $top: {} }, required: ['$top'] }, 'The input schema requires /properties/$top, a name that model providers refuse: rename it on the server, to at most 64 letters, digits, `_`, `.` and `-`.'], // prettier-ignore
  ])('is refused alone, with the place and what to do: %s', (_, schema, said) => {
    const taken = offered(schema);
    expect('problems' in taken ? taken.problems.join(' ') : taken).toContain(said);
  });

  it('is checked with the numbers that a server writes its own way', () => {
    const raw = (text: string): JsonValue => JSON.rawJSON(text) as unknown as JsonValue;
    const schema = property({ type: 'number', minimum: raw('0.0'), maximum: raw('9223372036854775807') });
    const check = jsonSchemaInput(inputOf(schema));
    expect(passes(check, { a: 7 })).toBe(true);
    expect(passes(check, { a: -1 })).toBe(false);
  });

  it('leaves out optional arguments under names that providers refuse, and takes nothing unchecked in their place', () => {
    const names = ['started<', '$top', 'a b', 'n'.repeat(65), 'ä'];
    const properties = Object.fromEntries([...names, 'city'].map((name) => [name, { type: 'string' }]));
    const taken = offered({ type: 'object', properties });
    if ('problems' in taken) throw new Error(taken.problems.join(' '));
    expect(taken.inputSchema).toEqual({
      type: 'object',
      properties: { city: { type: 'string' } },
      additionalProperties: false,
    });
    expect(taken.narrowed).toContain('without /properties/$top, a name that model providers refuse');
    expect(taken.narrowed).toHaveLength(names.length);
    expect(passes(jsonSchemaInput(taken.inputSchema), { $top: 5 })).toBe(false);
    const inside = property({ type: 'object', properties: { $top: { type: 'integer' } } });
    expect(inputOf(inside)).toBe(inside);
  });
});

describe('a pattern', () => {
  it.each<[string, 'u' | '' | null]>([
    ['^a+$', 'u'],
    ['^\\p{L}+$', 'u'],
    ['^https\\:\\/\\/', ''],
    ['^[\\w-.]+$', ''],
    ['^{.*}$', ''],
    ['\\u00e9\\-', ''],
    ['^a\\Z', null],
    ['\\Aa', null],
    ['(?i)a', null],
    ['(?P<y>a)', null],
    ['[[:alpha:]]', null],
    ['\\p{L}\\:', null],
    ['\\x{41}', null],
    ['\\\\Z\\:', ''],
    ['(', null],
  ])('is compiled as its author meant it, or not at all: %s', (pattern, flags) => {
    expect(regexFlags(pattern)).toBe(flags);
  });

  it('of more characters than an engine reads quickly is none', () => {
    expect(offered(property({ pattern: 'a'.repeat(longestSchemaPattern) }))).not.toHaveProperty('problems');
    expect(offered(property({ pattern: 'a'.repeat(longestSchemaPattern + 1) }))).toEqual({
      problems: ['The input schema has a pattern of more than 4000 characters at /properties/a/pattern: write one on the server.'], // prettier-ignore
    });
  });

  it('that takes longer than a check may does not fit, in arguments and in results, by names too', () => {
    const slow = `${'a'.repeat(100)}b`;
    for (const pattern of ['(a+)+$', `${'(.{0,1000})'.repeat(45)}z`]) {
      const text = pattern.startsWith('(a') ? slow : 'x'.repeat(4_000);
      expect(passes(jsonSchemaInput(inputOf(property({ type: 'string', pattern }))), { a: text })).toBe(false);
      expect(() => jsonSchemaOutput(property({ type: 'string', pattern }))({ a: text })).toThrow();
      const named = { type: 'object', patternProperties: { [pattern]: {} }, additionalProperties: false };
      expect(() => jsonSchemaOutput(named)({ [text]: 1 })).toThrow();
    }
  });

  it('that needs no `u` holds', () => {
    const check = jsonSchemaInput(inputOf(property({ type: 'string', pattern: '^https\\:\\/\\/' })));
    expect(passes(check, { a: 'https://example.test' })).toBe(true);
    expect(passes(check, { a: 'http://example.test' })).toBe(false);
  });
});

describe('an output schema', () => {
  const checked = (schema: JsonObject): ((value: unknown) => JsonValue) => {
    const taken = offered({ type: 'object' }, schema);
    if ('problems' in taken) throw new Error(taken.problems.join(' '));
    return jsonSchemaOutput(taken.outputSchema);
  };

  it('of an earlier draft is checked in its sound form, which refers and chooses', () => {
    const check = checked({
      $schema: 'http://json-schema.org/draft-04/schema#',
      id: 'urn:out',
      type: 'object',
      required: null,
      properties: { n: { minimum: 0, exclusiveMinimum: true }, s: { $ref: '#/definitions/S', nullable: true } },
      definitions: { S: { anyOf: [{ type: 'string' }, { type: 'array', items: [{ type: 'string' }] }] } },
    });
    expect(check({ n: 1, s: null })).toEqual({ n: 1, s: null });
    expect(check({ s: ['a', 5] })).toEqual({ s: ['a', 5] });
    for (const wrong of [{ n: 0 }, { s: 5 }, { s: [5] }]) expect(() => check(wrong)).toThrow('does not fit');
  });

  it.each<[JsonObject, string]>([
    [{ type: 'object', properties: { a: { $ref: '#/$defs/Gone' } } }, 'The output schema refers at /properties/a to "#/$defs/Gone", where it has no schema.'], // prettier-ignore
    [{ type: 'object', anyOf: [{ $ref: '#/$defs/A' }], $defs: { A: { allOf: [{ $ref: '#' }] } } }, 'The output schema refers at /anyOf/0 to "#/$defs/A", which leads back there without an end.'], // prettier-ignore
    [property({ type: 'date' }), 'The output schema has the type "date" at /properties/a/type'],
  ])('that no result can be checked against is found with the tool: %j', (schema, said) => {
    const taken = offered({ type: 'object' }, schema);
    expect('problems' in taken ? taken.problems.join(' ') : taken).toContain(said);
  });
});

describe('a name under a keyword that is unknown', () => {
  it.each<JsonObject>([
    { contains: { items: { a: { $anchor: '#' } } } },
    { properties: { a: { 'x-of': { $id: 'twice' } }, b: { 'x-of': { $id: 'twice', type: 'string' } } } },
    { 'x-of': { anyOf: [{ $dynamicAnchor: ' ' }] }, properties: { a: { default: { $id: 'kept' } } } },
  ])('is left out, since the validator would take it for a schema’s: %j', (schema) => {
    const taken = offered({ type: 'object' }, schema);
    if ('problems' in taken) throw new Error(taken.problems.join(' '));
    expect(jsonSchemaOutput(taken.outputSchema)({})).toEqual({});
    expect(JSON.stringify(taken.outputSchema)).not.toMatch(/#|twice|dynamicAnchor/);
  });
});

describe('every schema', () => {
  const keywords = [
    ...['type', 'properties', 'required', 'items', 'enum', 'const', 'minimum', 'exclusiveMinimum', 'maxLength'],
    ...['pattern', 'nullable', 'additionalProperties', 'anyOf', 'oneOf', 'allOf', '$ref', '$id', 'id', '$anchor'],
    ...['$schema', '$async', '$defs', 'dependencies', 'dependentRequired', 'prefixItems', 'uniqueItems', 'title'],
    ...['multipleOf', 'contains', 'unevaluatedProperties', 'propertyNames', '$dynamicRef', 'examples', 'format'],
    ...['contentSchema', 'discriminator', '$vocabulary', '$comment', 'readOnly', 'additionalItems', 'minContains'],
  ];
  const odd = fc.letrec<{ schema: JsonObject; value: JsonValue }>((tie) => ({
    schema: fc.dictionary(fc.constantFrom(...keywords), tie('value'), { maxKeys: 4 }) as fc.Arbitrary<JsonObject>,
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<JsonValue>(null, true, false, 0, -1, 1.5, 'string', 'object', 'array', 'date', 'a', '#', '#/$defs/a', '^a\\:$', [], {}, ['a'], ['a', 'a'], [null]), // prettier-ignore
      tie('schema'),
      fc.array(tie('schema'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('a', 'b', '$c', 'required'), tie('schema'), { maxKeys: 2 }) as fc.Arbitrary<JsonObject>, // prettier-ignore
    ),
  })).schema;

  it('that is offered can be checked and sent, whatever its server wrote, and is repaired once', () => {
    const meta = new Ajv2020({ strict: false, logger: false });
    let offers = 0;
    fc.assert(
      fc.property(odd, odd, fc.boolean(), (schema, part, beside) => {
        const given: JsonObject = beside ? { type: 'object', properties: { a: schema }, $defs: { a: part } } : schema;
        const taken = offered(given, { ...part, $defs: { a: schema } });
        if ('problems' in taken) return;
        offers++;
        const { inputSchema, outputSchema } = taken;
        expect(meta.validateSchema(inputSchema)).toBe(true);
        expect(meta.validateSchema(outputSchema as JsonObject)).toBe(true);
        expect(inputSchema['type']).toBe('object');
        for (const value of [{}, { a: 'a' }, { a: null }]) {
          passes(jsonSchemaInput(inputSchema), value);
          try {
            jsonSchemaOutput(outputSchema)(value);
          } catch (error) {
            expect((error as Error).message).toBe('The result does not fit the output schema.');
          }
        }
        expect(offered(inputSchema, outputSchema)).toEqual({ ...taken, simplified: [], narrowed: [] });
        expect(soundSchema(inputSchema).schema).toBe(inputSchema);
      }),
      { numRuns: 1_500 },
    );
    expect(offers).toBeGreaterThan(150);
  });

  /** Says the same as the schema, as earlier drafts, OpenAPI and careless serialisers write it. */
  const careless = (schema: JsonObject, at: (most: number) => number): JsonObject => {
    const { exclusiveMinimum, properties, required, ...rest } = schema;
    const names = Array.isArray(required) ? (required as readonly string[]) : [];
    const marked = at(2) === 1;
    const members = Object.entries((properties ?? {}) as JsonObject).map(([name, one]): [string, JsonValue] => {
      const written = careless(one as JsonObject, at);
      return [name, marked ? { ...written, required: names.includes(name) } : written];
    });
    return {
      ...rest,
      ...(exclusiveMinimum === undefined ? {} : { minimum: exclusiveMinimum, exclusiveMinimum: true }),
      ...(properties === undefined ? {} : { properties: Object.fromEntries(members) }),
      ...(marked || required === undefined ? {} : { required }),
      ...Object.fromEntries(['title', 'enum', 'pattern', 'items', 'allOf'].filter((key) => !(key in schema) && at(3) === 0).map((key) => [key, null])), // prettier-ignore
    };
  };
  const scalar = fc.record(
    {
      type: fc.constantFrom('string', 'integer', 'boolean'),
      exclusiveMinimum: fc.constantFrom(0, 1),
      maxLength: fc.constantFrom(0, 1),
      pattern: fc.constantFrom('^a', '^a\\:'),
      enum: fc.constantFrom<JsonValue[]>(['a', 1], ['b']),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<JsonObject>;
  const object = fc
    .record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b', '$c'), scalar, { maxKeys: 3 }),
        required: fc.subarray(['a', 'b']),
        additionalProperties: fc.boolean(),
      },
      { requiredKeys: ['type', 'properties'] },
    )
    .map(({ required = [], ...rest }) => ({
      ...rest,
      required: required.filter((name) => Object.hasOwn(rest.properties ?? {}, name)),
    })) as fc.Arbitrary<JsonObject>;
  const values: readonly JsonValue[] = ['a', 'a:', 'b', 'bb', 0, 1, 2, true, null].flatMap((one): JsonValue[] => [
    { a: one },
    { b: one, a: 'a' },
    { $c: one, a: 1, b: 2 },
  ]);

  it('that was written carelessly lets through exactly what its server means, or less where a name cannot be sent', () => {
    const seen = { same: 0, refused: 0 };
    fc.assert(
      fc.property(object, fc.infiniteStream(fc.nat(1_000)), (schema, numbers) => {
        const taken = offered(careless(schema, (most) => (numbers.next().value as number) % most));
        if ('problems' in taken) return;
        const server = new Ajv({
          strict: false,
          logger: false,
          meta: false,
          validateSchema: false,
          unicodeRegExp: false,
        }).compile(schema);
        const check = jsonSchemaInput(taken.inputSchema);
        for (const value of [{}, ...values]) {
          const sent = passes(check, value);
          if (sent) expect([value, server(value)]).toEqual([value, true]);
          else if (taken.narrowed.length === 0) expect([value, server(value)]).toEqual([value, false]);
          seen[sent ? 'same' : 'refused']++;
        }
      }),
      { numRuns: 300 },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100);
  });
});
