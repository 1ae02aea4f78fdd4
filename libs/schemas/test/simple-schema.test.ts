import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import { pinOf } from '@sluice/core';
import { convertOffer, withNulls } from '@sluice/schemas';
import type { JsonObject, OfferedTool } from '@sluice/core';
import { readCases } from '../../configuration/test/read-cases.js';
import { sampleInputs, sha256 } from '../../configuration/test/sample-inputs.js';

const offered = (inputSchema: JsonObject): OfferedTool => ({
  name: 'search',
  description: 'Searches.',
  inputSchema,
  outputSchema: null,
});

type Case = { readonly name: string; readonly schema: JsonObject; readonly is_bound?: boolean } & (
  | {
      readonly simple: JsonObject;
      readonly places: readonly string[];
      readonly narrowed?: readonly string[];
      readonly nulls?: readonly string[];
    }
  | { readonly problems: readonly string[] }
);

describe('what a server’s input schema is offered as (T-10d, T-26b3)', () => {
  it.each(readCases<readonly Case[]>('simple-schemas.yaml').map((one) => [one.name, one] as const))('%s', (_, one) => {
    const before = JSON.stringify(one.schema);
    const taken = convertOffer(offered(one.schema), one.is_bound);
    if ('problems' in one) expect(taken).toEqual({ problems: one.problems });
    else
      expect(taken).toEqual({
        inputSchema: one.simple,
        simplified: one.places,
        narrowed: one.narrowed ?? [],
        nulls: one.nulls ?? (expect.any(Array) as unknown),
        outputSchema: null,
      });
    expect(JSON.stringify(one.schema)).toBe(before);
  });

  it.each(
    readCases<readonly { name: string; schema: JsonObject; problems: readonly string[] }[]>('input-schemas.yaml')
      .filter(({ problems }) => problems.length === 0)
      .map((one) => [one.name, one.schema] as const),
  )('is the server’s own, untouched, where it is within the subset: %s', (_, schema) => {
    const taken = convertOffer(offered(schema));
    expect(taken).toEqual({ inputSchema: schema, simplified: [], narrowed: [], nulls: [], outputSchema: null });
    expect('inputSchema' in taken && taken.inputSchema).toBe(schema);
  });

  it('keeps parameters that are named like what every object has', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"$ref":"#/$defs/__proto__"},"constructor":{"anyOf":[{"type":"string"},{"type":"null"}]}},"$defs":{"__proto__":{"type":"integer"}}}',
    ) as JsonObject;
    const taken = convertOffer(offered(schema));
    expect(JSON.stringify('inputSchema' in taken && taken.inputSchema)).toBe(
      '{"type":"object","properties":{"__proto__":{"type":"integer"},"constructor":{"type":"string"}}}',
    );
  });
});

describe('what may be null on the server', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      text: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      kind: { anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] },
      items: { type: 'array', items: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
      place: { $ref: '#/$defs/Place', nullable: true },
      sure: { type: 'string' },
      'a/b': { oneOf: [{ type: 'string' }, { type: 'null' }] },
    },
    required: ['text'],
    $defs: { Place: { type: 'object', properties: { at: { anyOf: [{ const: 'x' }, { type: 'null' }] } } } },
  };

  it('is shown without null, and taken with it where it is checked', () => {
    const taken = convertOffer(offered(schema));
    if ('problems' in taken) throw new Error(taken.problems.join());
    expect(JSON.stringify(taken.inputSchema)).not.toContain('null');
    const { properties = {}, required } = withNulls(taken.inputSchema, taken.nulls) as unknown as {
      readonly properties: Readonly<Record<string, JsonObject>>;
      readonly required: readonly string[];
    };
    expect(required).toEqual(['text']);
    expect(properties).toMatchObject({
      text: { type: ['string', 'null'] },
      kind: { enum: ['a', 'b', null] },
      items: { type: 'array', items: { type: ['integer', 'null'] } },
      place: { type: ['object', 'null'], properties: { at: { enum: ['x', null] } } },
      sure: { type: 'string' },
    });
  });

  it('changes nothing at a place that is not there', () => {
    expect(withNulls({ type: 'object' }, ['/properties/gone', ''])).toEqual({ type: ['object', 'null'] });
  });
});

describe('an argument `connectionId` of a foreign server', () => {
  const tool = offered({
    type: 'object',
    properties: { connectionId: { type: 'string' } },
    required: ['connectionId'],
  });

  it('is that server’s business, unless the tool is bound to a connection here (T-26b3)', () => {
    expect(convertOffer(tool)).toMatchObject({ inputSchema: tool.inputSchema });
    expect(convertOffer(tool, true)).toMatchObject({
      problems: [
        'The input schema requires `connectionId` at /; connections are never arguments.',
        'The input schema has the property `connectionId` at /properties/connectionId; connections are never arguments.',
      ],
    });
  });
});

describe('a hostile schema (T-10d)', () => {
  const chain = (links: number, link: (next: JsonObject) => JsonObject): JsonObject => {
    const named = (at: number): [string, JsonObject] => [
      `d${String(at)}`,
      link({ $ref: `#/$defs/d${String(at + 1)}` }),
    ];
    const $defs = Object.fromEntries(Array.from({ length: links }, (_, at) => named(at)));
    return {
      type: 'object',
      properties: { a: { $ref: '#/$defs/d0' } },
      $defs: { ...$defs, [`d${String(links)}`]: {} },
    };
  };
  const tooLarge =
    'The input schema has more than 65536 bytes once its references are put in place, which is the limit.';
  const wide = { type: 'string', enum: Array.from({ length: 3_000 }, (_, at) => `value-${String(at)}`) };
  // Each would take longer than anybody waits, or more memory than there is, if it were written out before it is
  // measured.
  it.each([
    ['doubles 40 times', chain(40, (next) => ({ properties: { x: next, y: next } })), tooLarge],
    ['doubles 40 times in branches', chain(40, (next) => ({ anyOf: [next, next, { type: 'null' }] })), tooLarge],
    [
      'is one large list at 900 places',
      {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 900 }, (_, at) => [`p${String(at)}`, { $ref: '#/$defs/w' }]),
        ),
        $defs: { w: wide },
      },
      tooLarge,
    ],
    [
      'refers on a thousand times',
      chain(1_000, (next) => next),
      'The input schema uses `$ref` at /properties/a behind 64 others, which is the limit.',
    ],
    [
      'is deep once it is put together',
      chain(20, (next) => ({ properties: { x: { properties: { y: next } } } })),
      'The input schema is nested deeper than 64 levels once its references are put in place, which is the limit.',
    ],
    [
      'is far deeper than any',
      chain(3, (next) =>
        Array.from({ length: 29 }).reduce<JsonObject>((inner) => ({ properties: { x: inner } }), next),
      ),
      'The input schema is nested deeper than 64 levels once its references are put in place, which is the limit.',
    ],
    [
      'has names of its own length at each of 2,700 places',
      {
        type: 'object',
        t: {},
        T: {
          properties: Object.fromEntries(Array.from({ length: 450 }, (_, at) => [`p${String(at)}`, { $ref: '#/t' }])),
        },
        properties: {
          ['n'.repeat(45_000)]: {
            properties: Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`r${String(at)}`, { $ref: '#/T' }])),
          },
        },
      },
      tooLarge,
    ],
    [
      'names a dialect of 30,000 characters before a thousand references',
      {
        ...chain(27, (next) => ({
          properties: Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`p${String(at)}`, next])),
        })),
        $schema: 'draft-0'.repeat(4_300),
      },
      tooLarge,
    ],
    [
      'has a thousand references to itself',
      { type: 'object', properties: { a: { items: Array.from({ length: 1_000 }, () => ({ $ref: '#' })) } } },
      /which it is a part of/,
    ],
  ])('that %s is refused with a sentence, and the work is bounded', (_, schema, problem) => {
    const taken = convertOffer(offered(schema as JsonObject));
    expect('problems' in taken ? taken.problems[0] : taken).toEqual(
      typeof problem === 'string' ? problem : expect.stringMatching(problem),
    );
  });

  it('steers no terminal with the names of its parameters', () => {
    const $ref = '#/nowhere';
    const taken = convertOffer(
      offered({ type: 'object', properties: { ['a\u001b[31m' + 'x'.repeat(500)]: { $ref } } }),
    );
    const said = 'problems' in taken ? taken.problems.join() : '';
    expect(said).toContain('at /properties/a\uFFFD[31mxxx');
    expect(said.length).toBeLessThan(300);
  });
});

describe('a tool with a simplified schema', () => {
  const file = {
    tool: { find: { type: 'mcp-tool', mcp_tool_id: 'search' } },
    policy: { allowed_tools: ['find'] },
    mcp: {
      servers: { s: { command: 'node' } },
      tools: { search: { server: 's', tool: 'search', effect: 'read_only', redaction: 'whole' } },
    },
  };
  const nullable = (type: string, $defs: JsonObject = {}): OfferedTool =>
    offered({ type: 'object', properties: { a: { anyOf: [{ type }, { type: 'null' }] } }, $defs });
  const compiled = (tool: OfferedTool, pins?: ReadonlyMap<string, string>) =>
    compileConfiguration(file, {
      ...sampleInputs,
      offers: [{ server: 's', tools: [tool] }],
      ...(pins === undefined ? {} : { pins }),
    });

  it('has that schema alone, its hash, and the pin of what the server offered (T-10a, K-60)', () => {
    const tool = compiled(nullable('string')).configuration?.tools[0];
    expect(tool?.spec?.inputSchema).toEqual({ type: 'object', properties: { a: { type: 'string' } } });
    expect(tool?.spec?.schemaHash).toBe(sha256('{"properties":{"a":{"type":"string"}},"type":"object"}'));
    expect(tool?.mcp?.pin).toBe(pinOf(nullable('string'), sha256));
    expect(JSON.stringify(tool)).not.toMatch(/anyOf|defs/);
  });

  it('is held back where the server changes what is simplified away (K-60)', () => {
    const pins = new Map([['["s","search"]', pinOf(nullable('string'), sha256)]]);
    expect(compiled(nullable('string'), pins).configuration?.tools[0]?.unavailable).toBeNull();
    const changed = compiled(nullable('string', { unused: {} }), pins).configuration?.tools[0];
    expect(changed?.unavailable).toMatch(/changed the description or the schema/);
  });

  it('is reported when the configuration is compiled, with the paths', () => {
    const message =
      'The input schema of find was simplified at /properties/a: it allows nothing that its server does not, and does not show “or null”, which is passed on all the same.';
    expect(compiled(nullable('string')).findings).toEqual([{ kind: 'simplified', path: 'tool.find', message }]);
    expect(compiled(offered({ type: 'object' })).findings).toEqual([]);
  });

  it('is said to be narrower where only one of several alternatives is offered', () => {
    const tool = offered({ type: 'object', properties: { a: { anyOf: [{ type: 'object' }, { type: 'string' }] } } });
    const message = 'The input schema of find is narrower than its server’s: only alternative 1 of 2 at /properties/a.';
    expect(compiled(tool).findings).toEqual([{ kind: 'narrowed', path: 'tool.find', message }]);
  });
});
