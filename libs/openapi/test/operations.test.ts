import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isJsonObject, jsonBytes } from '@sluice/core';
import type { JsonObject, JsonValue, McpServer, OfferedTool } from '@sluice/core';
import { operationsOf } from '@sluice/openapi';
import { convertOffer } from '@sluice/schemas';

const server = (more: Partial<McpServer> = {}): McpServer => ({
  ...{ id: 'pets', command: null, args: [], env: [], url: 'https://api.example.com', startMs: 1 },
  openapi: { document: 'x' },
  ...more,
});
const document = (paths: JsonObject, more: JsonObject = {}): JsonObject => ({ openapi: '3.0.3', paths, ...more });
const only = (operation: JsonObject, more: JsonObject = {}, path = '/pets', of = server()): OfferedTool => {
  const [tool] = operationsOf(document({ [path]: { post: operation } }, more), of);
  if (tool === undefined) throw new Error('There is no operation.');
  return tool;
};
const inBody = (schema: JsonValue, type = 'application/json'): JsonObject => ({
  requestBody: { required: true, content: { [type]: { schema } } },
});
const bodyOf = ({ inputSchema }: OfferedTool) => (inputSchema['properties'] as JsonObject)['body'];

describe('an operation that cannot be sent', () => {
  it('is TRACE, or reads and wants a body; a body that it may have is left out', () => {
    const body = (required: boolean): JsonObject => ({
      requestBody: { required, content: { 'application/json': {} } },
    });
    const paths = { '/pets': { trace: {}, get: body(true), head: body(false) } };
    const tools = operationsOf(document(paths), server());
    expect(tools.map(({ name, problems }) => [name, problems?.join(' ') ?? null])).toEqual([
      ['get_pets', 'It wants a body with GET, which cannot be sent.'],
      ['head_pets', null],
      ['trace_pets', 'TRACE is no method that can be sent.'],
    ]);
    expect(tools[1]?.inputSchema['properties']).toEqual({});
  });
});

describe('a schema that grows with each reference', () => {
  it('is shortened, as one without an end is', () => {
    const twice = (n: number): JsonValue => ({
      anyOf: [1, 2].map(() => ({ $ref: `#/components/schemas/A${String(n + 1)}` })),
    });
    const schemas = Object.fromEntries(Array.from({ length: 35 }, (_, n) => [`A${String(n)}`, twice(n)]));
    const tool = only(inBody({ $ref: '#/components/schemas/A0' }), {
      components: { schemas: { ...schemas, A35: { type: 'string' } } },
    });
    expect(JSON.stringify(tool.inputSchema).length).toBeLessThan(100_000);
  });
});

describe('operations of a document', () => {
  it('are tools by operationId, else by method and path, with names of their own', () => {
    const tools = operationsOf(
      document({
        '/pets': { get: { operationId: 'pets/list all' }, post: {} },
        '/pets/{id}': {
          get: { operationId: 'same' },
          delete: { operationId: 'Same' },
          put: { operationId: 'x'.repeat(90) },
        },
      }),
      server(),
    );
    const names = tools.map(({ name }) => name);
    expect(names.slice(0, 2)).toEqual(['pets_list_all', 'post_pets']);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(5);
    for (const name of names) expect(`api__pets__${name}`).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  it('keep their names whatever operations stand beside them, unless they share one', () => {
    const alone = operationsOf(document({ '/a': { get: { operationId: 'one' } } }), server());
    const both = operationsOf(
      document({ '/b': { get: { operationId: 'two' } }, '/a': { get: { operationId: 'one' } } }),
      server(),
    );
    expect([alone[0]?.name, both[1]?.name]).toEqual(['one', 'one']);
  });

  it('have arguments for parameters, those of the operation before those of its path', () => {
    const [tool] = operationsOf(
      document(
        {
          '/pets/{id}': {
            parameters: [
              { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
              { name: 'q', in: 'query', description: 'Of the path', schema: { type: 'string' } },
            ],
            get: {
              parameters: [
                { name: 'q', in: 'query', required: true, description: 'Its own', schema: { type: 'string' } },
                { name: 'id', in: 'query', schema: { type: 'string' } },
                { name: 'filter[name]', in: 'query', style: 'deepObject', schema: { type: 'object' } },
                { name: 'Authorization', in: 'header', schema: { type: 'string' } },
                { $ref: '#/components/parameters/Page' },
              ],
            },
          },
        },
        {
          components: {
            parameters: { Page: { name: 'page', in: 'query', schema: { type: 'integer', nullable: true } } },
          },
        },
      ),
      server(),
    );
    expect(Object.keys(tool?.inputSchema['properties'] as JsonObject)).toEqual([
      'id',
      'q',
      'id_query',
      'filter_name_',
      'page',
    ]);
    expect(tool?.inputSchema).toMatchObject({ required: ['id', 'q'], properties: { q: { description: 'Its own' } } });
    expect(tool?.operation?.parameters.find(({ argument }) => argument === 'id_query')).toMatchObject({
      name: 'id',
      in: 'query',
    });
  });

  it('have a text for what their path names and no parameter does', () => {
    const tool = only({}, {}, '/pets/{petId}');
    expect(tool.inputSchema).toMatchObject({ required: ['petId'], properties: { petId: { type: 'string' } } });
  });

  it('take no credential as an argument, and no key of a call', () => {
    const parameters = ['X-Api-Key', 'Idempotency-Key', 'X-Other'].map((name) => ({
      name,
      in: 'header',
      schema: { type: 'string' },
    }));
    const of = server({
      connection: { id: 'c', tenants: ['*'], adapter: 'environment', variable: 'V' },
      openapi: { document: 'x', credential: { in: 'header', name: 'x-api-key' }, idempotencyHeader: 'Idempotency-Key' },
    });
    expect(Object.keys(only({ parameters }, {}, '/pets', of).inputSchema['properties'] as JsonObject)).toEqual([
      'X-Other',
    ]);
  });

  it('are refused one by one, with the reason', () => {
    expect(only(inBody({}, 'application/xml')).problems).toEqual([expect.stringContaining('application/xml')]);
    expect(only({ requestBody: { content: { 'image/png': {} } } }).problems).toBeUndefined();
    expect(only(inBody({ $ref: '#/components/schemas/Gone' })).problems).toEqual([
      expect.stringContaining('#/components/schemas/Gone'),
    ]);
    expect(only({}, {}, '/pets', server({ url: null })).problems).toEqual([expect.stringContaining('base_url')]);
    expect(only({}, { servers: [{ url: 'https://{at}.example.com/', variables: { at: { default: 'eu' } } }] }, '/pets', server({ url: null }))).toMatchObject({ operation: { url: 'https://eu.example.com' } }); // prettier-ignore
  });

  it.each([
    [{ swagger: '2.0' }, 'Swagger 2.0'],
    [{ openapi: '4.0.0' }, 'OpenAPI 4.0.0'],
    [{}, 'no OpenAPI document'],
  ])('are none of %j', (wrong, text) => {
    expect(() => operationsOf(wrong, server())).toThrow(text);
  });
});

describe('a schema of a body', () => {
  const schemas = (all: JsonObject) => ({ components: { schemas: all } });

  it('leaves out what the server alone sets', () => {
    const pet = {
      type: 'object',
      required: ['id', 'name'],
      properties: { id: { type: 'integer', readOnly: true }, name: { type: 'string' } },
    };
    expect(bodyOf(only(inBody({ $ref: '#/components/schemas/Pet' }), schemas({ Pet: pet })))).toEqual({
      ...{ type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    });
  });

  it('that refers to itself ends where it does', () => {
    const node = {
      type: 'object',
      properties: { value: { type: 'string' }, next: { $ref: '#/components/schemas/Node' } },
    };
    const tool = only(inBody({ $ref: '#/components/schemas/Node' }), schemas({ Node: node }));
    expect(bodyOf(tool)).toMatchObject({ properties: { value: { type: 'string' }, next: { type: 'object' } } });
    expect(convertOffer(tool)).not.toHaveProperty('problems');
  });

  it('is one that models take, and never a large one, whatever refers to what', () => {
    const names = ['A', 'B', 'C', 'D'];
    const reference = fc.constantFrom(...names).map((name) => ({ $ref: `#/components/schemas/${name}` }));
    const leaf = fc.constantFrom<JsonObject>({ type: 'string', example: 'x' }, { type: 'integer', nullable: true }, { type: 'number', minimum: 0, exclusiveMinimum: true }); // prettier-ignore
    const schema = fc.oneof(
      leaf,
      fc.record({ type: fc.constant('array'), items: fc.oneof(reference, leaf) }),
      fc.record({
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.oneof(reference, leaf)),
      }),
    );
    fc.assert(
      fc.property(fc.tuple(schema, schema, schema, schema), (four) => {
        const all = Object.fromEntries(names.map((name, at) => [name, four[at] as JsonValue]));
        const tool = only(
          inBody({ type: 'object', properties: { it: { $ref: '#/components/schemas/A' } } }),
          schemas(all),
        );
        expect(jsonBytes(tool.inputSchema, 40_000)).toBeLessThan(40_000);
        const converted = convertOffer(tool);
        expect(converted).not.toHaveProperty('problems');
        expect(isJsonObject('inputSchema' in converted ? converted.inputSchema : {})).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('shows fewer levels where all of them would be too many', () => {
    const wide = (next: number): JsonObject => ({
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 12 }, (_, n) => [`field${String(n)}`, { $ref: `#/components/schemas/L${String(next)}` }]),
      ),
    });
    const all = {
      ...Object.fromEntries([0, 1, 2, 3, 4, 5].map((n) => [`L${String(n)}`, wide(n + 1)])),
      L6: { type: 'string' },
    };
    const tool = only(inBody({ $ref: '#/components/schemas/L0' }), schemas(all));
    expect(jsonBytes(tool.inputSchema, 100_000)).toBeLessThan(20_000);
    expect(bodyOf(tool)).toMatchObject({ description: expect.stringContaining('Deeper levels are not shown') });
  });

  it('of a multipart body takes the text of a file', () => {
    const schema = {
      type: 'object',
      properties: { file: { type: 'string', format: 'binary' }, name: { type: 'string' } },
    };
    const tool = only(inBody(schema, 'multipart/form-data'));
    expect(tool.operation?.body).toEqual({
      contentType: 'multipart/form-data',
      encoding: 'multipart',
      argument: 'body',
      files: ['file'],
    });
    expect(bodyOf(tool)).toMatchObject({
      properties: { file: { type: 'string', description: 'The text of the file.' } },
    });
  });
});
