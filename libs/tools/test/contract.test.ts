import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ToolInputError, ToolUnavailableError } from '@sluice/core';
import type { ToolEffect } from '@sluice/core';
import { authOf, clientsOf, defineTool, toolTypes } from '../src/index.js';
import { builtInTools } from '@sluice/packs';
import type { ToolDefinition } from '../src/index.js';
import { context, patience } from '../../sources/test/configured.js';

type Any = ToolDefinition<z.ZodObject, z.ZodType, 'clock'>;

function definition(changes: Partial<Any> = {}): Any {
  return {
    type: 'sample',
    description: 'A sample.',
    input: z.object({ word: z.string() }),
    output: z.object({ said: z.string(), secret: z.string().optional() }),
    effect: 'read_only',
    redaction: { fields: ['said'] },
    capabilities: ['clock'],
    repeatable: false,
    requiresConnection: false,
    execute: async (args, _context, { clock }) => ({ said: `${String(args['word'])} at ${clock.now()}` }),
    ...changes,
  };
}

describe('defineTool', () => {
  it('derives draft-7 JSON Schema from the contract, unknown arguments refused (T-10a, T-13a, T-13b, K-02)', () => {
    expect(defineTool(definition()).inputSchema).toEqual({
      type: 'object',
      properties: { word: { type: 'string' } },
      required: ['word'],
      additionalProperties: false,
    });
  });

  it('gives a frozen contract', () => {
    const contract = defineTool(definition());
    expect(Object.isFrozen(contract)).toBe(true);
    expect(Object.isFrozen(contract.inputSchema['properties'])).toBe(true);
  });

  it.each(['oneOf', 'anyOf', 'allOf', 'not', 'if', 'then', 'else', 'patternProperties', '$ref'])(
    'refuses %s, naming tool, construct and path (T-10d, X-11)',
    (construct) => {
      const deep = z.string().meta({ [construct]: {} });
      const define = () => defineTool(definition({ input: z.object({ inner: z.strictObject({ deep }) }) }));
      expect(define).toThrow(/"sample"/);
      expect(define).toThrow(`\`${construct}\``);
      expect(define).toThrow('/properties/inner/properties/deep');
    },
  );

  it('refuses a union of shapes, and takes a union of plain types as a list of types', () => {
    const shapes = z.union([z.strictObject({ a: z.string() }), z.string()]);
    expect(() => defineTool(definition({ input: z.object({ shapes }) }))).toThrow(/anyOf/);
    const plain = defineTool(definition({ input: z.object({ plain: z.union([z.string(), z.number()]) }) }));
    expect(plain.inputSchema['properties']).toEqual({ plain: { type: ['string', 'number'] } });
  });

  it('refuses $ref, which a recursive schema needs (X-11)', () => {
    const tree: z.ZodType = z.strictObject({
      get children() {
        return z.array(tree);
      },
    });
    expect(() => defineTool(definition({ input: z.object({ tree }) }))).toThrow(/\$ref/);
  });

  it('refuses an argument called connectionId at any depth (T-26b3)', () => {
    const input = z.object({ list: z.array(z.strictObject({ connectionId: z.string() })) });
    expect(() => defineTool(definition({ input }))).toThrow(
      /connectionId.*\/properties\/list\/items\/properties\/connectionId/,
    );
  });

  it('refuses a nested object that would let unknown names pass', () => {
    const input = z.object({ inner: z.object({ a: z.string() }) });
    expect(() => defineTool(definition({ input }))).toThrow(/strictObject.*\/properties\/inner/);
  });

  it.each<[string, Partial<Any>]>([
    ['empty', { redaction: { fields: [] } }],
    ['missing', { redaction: undefined as unknown as Any['redaction'] }],
    ['of fields the output does not have', { redaction: { fields: ['sad'] } }],
  ])('refuses a redaction that is %s (T-04c, X-20)', (_what, changes) => {
    expect(() => defineTool(definition(changes))).toThrow(/redaction/);
  });

  it.each<[string, z.ZodObject, string]>([
    ['date', z.object({ list: z.array(z.strictObject({ when: z.date() })) }), '/properties/list/items/properties/when'],
    ['bigint', z.object({ large: z.bigint().optional() }), '/properties/large'],
    ['map', z.object({ map: z.map(z.string(), z.string()) }), '/properties/map'],
    ['custom', z.object({ own: z.custom(() => true) }), '/properties/own'],
  ])('refuses %s, which JSON has no form for, naming it and its path (T-10d)', (kind, input, path) => {
    expect(() => defineTool(definition({ input }))).toThrow(`z.${kind} at ${path}, which JSON has no form for`);
  });

  it.each(Object.keys(definition()))('refuses a definition without %s, and says what to write (C-19, K-44)', (part) => {
    const without = { ...definition(), [part]: undefined } as unknown as Any;
    expect(() => defineTool(without)).toThrow(`Its ${part} is missing: write ${part}: `);
    const wrong = { ...definition(), [part]: 5 } as unknown as Any;
    expect(() => defineTool(wrong)).toThrow(`Its ${part} is not usable: write ${part}: `);
  });

  it('refuses a part that no tool has, and what is no definition at all', () => {
    expect(() => defineTool({ ...definition(), idempotent: true } as Any)).toThrow(/part idempotent.*leave it out/);
    for (const nothing of [undefined, null, 5, 'tool', []]) {
      expect(() => defineTool(nothing as unknown as Any)).toThrow(/without a type cannot be defined/);
    }
  });

  it.each(['all', ['https://a.example/'], ['*.example'], ['a b'], [], 7, ['a.example', 7], ['a.example:port']])(
    'refuses a network that is none, and says what to write: %j',
    (network) => {
      const wrong = { ...definition(), network } as unknown as Any;
      expect(() => defineTool(wrong)).toThrow("Its network is not usable: write network: 'none', a list of hosts");
    },
  );

  it('keeps the network that it declares, and none where it declares none', () => {
    const of = (network?: unknown) =>
      defineTool({ ...definition(), ...(network === undefined ? {} : { network }) } as Any);
    const hosts = ['api.example.com', '127.0.0.1:8080', '[::1]:80'];
    expect([of(), of('none'), of('open'), of(hosts)].map((tool) => tool.network)).toEqual([
      undefined,
      undefined,
      'open',
      hosts,
    ]);
  });

  it('refuses an unknown capability (T-29c)', () => {
    expect(() => defineTool(definition({ capabilities: ['network' as 'clock'] }))).toThrow(/of clock, cancellation/);
  });

  it('refuses an effect that is none of the three (T-10b, T-17a)', () => {
    expect(() => defineTool(definition({ effect: 'harmless' as ToolEffect }))).toThrow(
      /read_only, state_change, external_side_effect/,
    );
  });

  it('hands a tool its arguments, the references of its call, and the capabilities it declared and no others (T-29c, T-03a, T-32b, C-15, K-30, K-32)', async () => {
    let seen: unknown;
    const contract = defineTool(
      definition({
        execute: async (args, context, capabilities) => {
          seen = { args, context, capabilities };
          return { said: '' };
        },
      }),
    );
    const clock = { now: () => 1 };
    await contract.execute({ word: 'a' }, context, { clock, knowledge: 'not declared' });
    expect(seen).toEqual({ args: { word: 'a' }, context, capabilities: { clock } });
  });

  it('gives its token to a tool that asks its capability for it, and shows it nowhere else (T-29a, C-16)', async () => {
    const token = 'token-4711';
    const at = 'https://crm.example/customers';
    const given: { shown: string; token: string; other: string }[] = [];
    const contract = defineTool({
      ...definition(),
      capabilities: ['auth', 'connections'],
      requiresConnection: true,
      execute: async (args, context, capabilities) => {
        const { auth } = capabilities;
        const shown = inspect([args, context, capabilities], { depth: null, showHidden: true, getters: true });
        const other = await auth.getAccessToken('another', at).then(String, (error: Error) => error.message);
        given.push({ shown, token: await auth.getAccessToken('crm', at), other });
        expect(await auth.getAuthHeaders('crm', at)).toEqual({ authorization: `Bearer ${token}` });
        return { said: '' };
      },
    });
    const credential = {
      connectionId: 'crm',
      hosts: ['https://crm.example'],
      token,
      renew: () => Promise.resolve(false),
    };
    const bound = { auth: authOf(credential), connections: clientsOf(credential, patience()) };
    await contract.execute({ word: 'a' }, { ...context, connectionId: 'crm' }, bound);
    const [seen] = given;
    expect(seen?.token).toBe(token);
    expect(seen?.shown).toContain('getAccessToken');
    expect(seen?.shown).not.toContain(token);
    expect(seen?.other).toMatch(/connection of its context and no other/);
  });

  it('does not run without a declared capability (T-34b, X-22, K-44)', async () => {
    await expect(defineTool(definition()).execute({ word: 'a' }, context, {})).rejects.toThrow(ToolUnavailableError);
  });

  it('names what is wrong with arguments by JSON pointer and never repeats a value', () => {
    const contract = defineTool(
      definition({
        input: z.object({
          'a/b': z.number(),
          list: z.array(z.strictObject({ n: z.int() })),
          kind: z.enum(['x', 'y']),
          either: z.union([z.string(), z.number()]),
          short: z.string().max(3),
          gone: z.string(),
        }),
      }),
    );
    const args = {
      'a/b': 'hunter2',
      list: [{ n: 1 }, { n: 'hunter2' }],
      kind: 'hunter2',
      either: ['hunter2'],
      short: 'hunter2',
      extra: 'hunter2',
    };
    const error = thrownBy(() => contract.parseInput(args)) as ToolInputError;
    expect(error).toBeInstanceOf(ToolInputError);
    expect(error.message).not.toContain('hunter2');
    expect(error.problems).toEqual([
      { path: '/a~1b', message: 'expected a number, found a string' },
      { path: '/list/1/n', message: 'expected a number, found a string' },
      { path: '/kind', message: 'expected one of "x", "y"' },
      { path: '/either', message: 'expected a string or a number, found an array' },
      { path: '/short', message: expect.stringContaining('3 characters') },
      { path: '/gone', message: 'is required and missing' },
      { path: '/extra', message: 'is not an argument of this tool' },
    ]);
  });
});

describe('toolTypes', () => {
  it('tells the compiler schema, effect, redaction and repeatability of each type (XB-46, T-24a)', () => {
    const types = toolTypes(builtInTools);
    expect(types.map(({ type, effect, repeatable }) => [type, effect, repeatable])).toEqual([
      ['get_current_time', 'read_only', true],
      ['knowledge-query', 'read_only', true],
      ['graph-update', 'state_change', true],
      ['text-completion', 'read_only', true],
      ['mark_complete', 'read_only', true],
      ['agent', 'external_side_effect', false],
      ['load_toolset', 'read_only', true],
      ['search_tools', 'read_only', true],
      ['plan', 'read_only', true],
      ['read_result', 'read_only', true],
      ['read_file', 'read_only', true],
      ['write_file', 'state_change', true],
      ['append_file', 'state_change', false],
      ['list_files', 'read_only', true],
      ['delete_file', 'state_change', true],
      ['search_files', 'read_only', true],
      ['file_exists', 'read_only', true],
      ['get_workspace_summary', 'read_only', true],
      ['add_todo', 'state_change', true],
      ['complete_todo', 'state_change', true],
      ['start_todo', 'state_change', true],
      ['list_todos', 'read_only', true],
      ['get_progress', 'read_only', true],
      ['archive_and_reset', 'state_change', true],
      ['get_next_todo', 'read_only', true],
      ['extract_document_text', 'read_only', true],
      ['chunk_document', 'read_only', true],
      ['identify_requirement_candidates', 'read_only', true],
      ['assess_gobd_relevance', 'read_only', true],
      ['extract_entity_mentions', 'read_only', true],
      ['web_search', 'read_only', true],
      ['query_similar_requirements', 'read_only', true],
      ['cite_document', 'state_change', true],
      ['cite_web', 'state_change', true],
      ['list_sources', 'read_only', true],
      ['get_citation', 'read_only', true],
      ['write_requirement_to_cache', 'state_change', true],
      ['execute_cypher_query', 'read_only', true],
      ['get_database_schema', 'read_only', true],
      ['find_similar_requirements', 'read_only', true],
      ['check_for_duplicates', 'read_only', true],
      ['resolve_business_object', 'read_only', true],
      ['resolve_message', 'read_only', true],
      ['validate_schema_compliance', 'read_only', true],
      ['create_requirement_node', 'state_change', true],
      ['create_fulfillment_relationship', 'state_change', true],
      ['generate_requirement_id', 'state_change', true],
      ['get_entity_relationships', 'read_only', true],
      ['count_graph_statistics', 'read_only', true],
    ]);
    for (const type of types) {
      const described = ['category', 'shortDescription'];
      expect(
        Object.keys(type)
          .filter((key) => !described.includes(key))
          .sort(),
      ).toEqual(['description', 'effect', 'inputSchema', 'redaction', 'repeatable', 'type']);
    }
  });

  it('describes every property of every built-in tool (M-72)', () => {
    const bare = builtInTools.flatMap(({ type, inputSchema }) =>
      Object.entries(inputSchema['properties'] as Record<string, { description?: string }>)
        .filter(([, property]) => (property.description ?? '').length < 20)
        .map(([name]) => `${type}.${name}`),
    );
    expect(bare).toEqual([]);
  });

  it('refuses two contracts of one type', () => {
    const contract = defineTool(definition());
    expect(() => toolTypes([contract, contract])).toThrow(/Two tool contracts.*"sample"/);
  });
});

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}
