import { describe, expect, it } from '@jest/globals';
import { insufficientPermissions, refusalOfHidden, toolEffects, toolErrors } from '@sluice/core';
import type { ConfiguredTool } from '@sluice/core';
import { make } from '@sluice/contracts';
import type { AgentStep } from '@sluice/contracts';
import {
  annotationsOf,
  blocksIn,
  categoryOf,
  completed,
  errorCategories,
  listedValues,
  pageOf,
  readCredential,
  resultOf,
  servedNames,
  servedTool,
  toolOfPage,
  toolPageUri,
  withGroups,
  writeCredential,
} from '@sluice/mcp';

const step = (observation: string): AgentStep => make.agentStep({ observation, stateBefore: 'a', state: 'a' });

describe('what MCP clients read of a tool', () => {
  it('are hints that follow from its effect, and a reading tool destroys nothing (M-52 to M-55, M-59, XM-6)', () => {
    const hints = Object.fromEntries(toolEffects.map((effect) => [effect, annotationsOf(effect, true)]));
    expect(hints).toEqual({
      read_only: { readOnlyHint: true, destructiveHint: false, openWorldHint: true },
      state_change: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      external_side_effect: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    });
    expect(annotationsOf('state_change', false).idempotentHint).toBe(false);
  });

  it('are a picture and examples, where the configuration has them (XM-2)', () => {
    const spec = {
      description: 'Does.',
      inputSchema: { type: 'object' },
      effect: 'read_only',
      redaction: { whole: true },
    };
    const tool = {
      key: 'do',
      id: 'core__do',
      title: 'do',
      spec,
      mcp: null,
      repeatable: true,
    } as unknown as ConfiguredTool;
    expect(servedTool(tool, 'do')).not.toHaveProperty('icons');
    const shown = servedTool({ ...tool, icon: 'data:image/svg+xml;base64,PHN2Zy8+', examples: [{ a: 1 }] }, 'do');
    expect(shown).toMatchObject({
      icons: [{ src: 'data:image/svg+xml;base64,PHN2Zy8+', mimeType: 'image/svg+xml' }],
      examples: [{ a: 1 }],
    });
    expect(servedTool({ ...tool, icon: 'https://example.com/i.png' }, 'do').icons).toEqual([
      { src: 'https://example.com/i.png' },
    ]);
    const icons = [{ src: 'https://example.com/of-its-server.png', sizes: ['any'] }];
    expect(servedTool({ ...tool, icons }, 'do').icons).toEqual(icons);
    expect(servedTool({ ...tool, icon: 'https://example.com/i.png', icons }, 'do').icons).toHaveLength(1);
  });

  it('are names of which no two are one: tools that would share one have their ids', () => {
    const named = (key: string, id: string, served?: string) => ({
      ...{ key, id },
      mcp: served === undefined ? null : { server: 's', tool: key, served, pin: null, outputSchema: null },
    });
    const names = servedNames([
      named('read_file', 'core__read_file'),
      named('read', 'mcp__a__read_file', 'read_file'),
      named('with space', 'core__with_space'),
    ]);
    expect([...names.keys()].sort()).toEqual(['core__read_file', 'core__with_space', 'mcp__a__read_file']);
  });
});

describe('what MCP clients read of a call', () => {
  it('is one of three categories for every code (M-36, XM-4)', () => {
    const found = Object.keys(toolErrors).map((code) => [code, categoryOf(code, null)] as const);
    for (const [, category] of found) expect(errorCategories).toContain(category);
    expect(Object.fromEntries(found)).toMatchObject({
      validation: 'user_input',
      invalid_json: 'user_input',
      unavailable: 'system',
      execution: 'system',
      redaction_failed: 'system',
      policy_denied: 'permission',
      authz_denied: 'permission',
    });
    expect(categoryOf('validation', 'output_invalid')).toBe('system');
    expect(categoryOf('of a later version', null)).toBe('system');
    expect(categoryOf('execution', 'user_error')).toBe('user_input');
  });

  it.each([
    [
      'execution',
      'user_error',
      'No such file.',
      'user_input',
      'No such file. If the arguments are the cause, correct them and call t again.',
    ],
    ['execution', 'user_error', 'Network timeout. Please try again.', 'system', 'Network timeout. Please try again.'],
    ['execution', 'user_error', 'Access denied: not yours.', 'permission', 'Access denied: not yours.'],
    [
      'validation',
      null,
      'The path is wrong.',
      'user_input',
      'The path is wrong. Correct the arguments and call t again.',
    ],
    [
      'execution',
      'timeout',
      'It did not end. Try again or use another tool.',
      'system',
      'It did not end. Try again or use another tool.',
    ],
    [
      'execution',
      null,
      'The connection was lost. Try again or use another tool.',
      'system',
      'The connection was lost. Try again or use another tool.',
    ],
    [
      'execution',
      null,
      'The tool failed. Try other arguments or another tool.',
      'system',
      'The tool failed. Try other arguments or another tool.',
    ],
    [
      'unavailable',
      'not_bound',
      'The tool core__t is not available now. Offered were: core__a.',
      'system',
      't is not available now. Please try again, or call tools/list for the tools that are available now.',
    ],
    [
      'unavailable',
      'rate_limited',
      'core__t may be called 2 times a minute, and has been. Try again in 9 s or use core__t2.',
      'system',
      't may be called 2 times a minute, and has been. Try again in 9 s or use core__t2.',
    ],
    ['policy_denied', 'arguments_out_of_bounds', 'Change x.', 'permission', 'Change x.'],
    ['policy_denied', 'total_used', '3 are left.', 'permission', '3 are left.'],
    ['unavailable', null, 'The server is away.', 'system', 'The server is away. Please try again.'],
    ['redaction_failed', null, 'The result is withheld.', 'system', 'The result is withheld. Go on without it.'],
  ])('says once what to do about %s, %s (M-33, M-34)', (outcome, reason, observation, category, text) => {
    const failed = { ...step(observation), outcome, reason } as AgentStep;
    expect(resultOf(failed, 't', { requestId: 'r', toolId: 'core__t' })).toMatchObject({
      content: [{ text }],
      _meta: { 'sluice/error': { category } },
    });
  });

  it('is the same for every tool that is not in the caller’s list, whatever hides it, and names its own groups (XM-3)', () => {
    const refused = (outcome: string, reason: string, groups = ['read', 'text']) =>
      resultOf({ ...step(`It is ${reason}.`), outcome, reason } as AgentStep, 't', { requestId: 'r' }, groups);
    const said =
      'Access denied: this caller may not use t now. This operation requires additional permissions; ask for them, or go on without it.';
    const expected = {
      content: [{ type: 'text', text: `${said} Its groups are "read" and "text".` }],
      isError: true,
      _meta: {
        'sluice/request_id': 'r',
        'sluice/error': { category: 'permission', code: 'policy_denied', reason: null },
      },
    };
    const hiding = Object.values(refusalOfHidden).filter(
      (reason) => !['not_eligible_state', 'not_bound'].includes(reason),
    );
    for (const reason of [...hiding, 'no_approver', 'connection_missing'])
      expect([reason, refused('policy_denied', reason)]).toEqual([reason, expected]);
    for (const reason of ['not_permitted', 'not_delegated'])
      expect([reason, refused('authz_denied', reason)]).toEqual([reason, expected]);
    expect(refused('policy_denied', 'not_allowed', ['*']).content).toEqual([{ type: 'text', text: said }]);
    expect(refused('policy_denied', 'not_allowed', []).content).toEqual([
      { type: 'text', text: `${said} Its credential permits no group.` },
    ]);
    // A tool of the caller’s own groups that is of another state says so.
    expect(refused('policy_denied', 'not_eligible_state')._meta['sluice/error']).toMatchObject({
      reason: 'not_eligible_state',
    });
  });

  it('names the groups that were asked for where a call is refused as a whole', () => {
    expect(withGroups(insufficientPermissions, ['read'])).toMatch(/^Insufficient permissions for .*: "read"\. Not all/);
    expect(withGroups('The run took too long.', ['read'])).toBe('The run took too long.');
  });

  it('is a text as it is, and any other value as its JSON text, an object structured besides (XB-41)', () => {
    expect(resultOf(step('plain'), 't', { requestId: 'r' })).toMatchObject({
      content: [{ text: 'plain' }],
      isError: false,
    });
    expect(resultOf(step('{"a":1}'), 't', { requestId: 'r' })).toMatchObject({
      content: [{ text: '{"a":1}' }],
      structuredContent: { a: 1 },
    });
    expect(resultOf(step('[1]'), 't', { requestId: 'r' }).structuredContent).toBeUndefined();
    expect(resultOf(step('{broken'), 't', { requestId: 'r' }).structuredContent).toBeUndefined();
  });
});

describe('a list in pages', () => {
  it('gives every tool once, and takes no cursor of another list', () => {
    const list = Array.from({ length: 25 }, (_, n) => n);
    const seen: number[] = [];
    let cursor: string | undefined;
    do {
      const found = pageOf(list, 'list', cursor, 10);
      seen.push(...(found?.page ?? []));
      cursor = found?.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(list);
    const { nextCursor } = pageOf(list, 'list', undefined, 10) ?? {};
    expect(pageOf(list, 'another', nextCursor, 10)).toBeNull();
    for (const wrong of ['', 'x', Buffer.from('["list",-1]').toString('base64url')])
      expect(pageOf(list, 'list', wrong, 10)).toBeNull();
    // An empty list has a page, and so has one that ends now where the next page began.
    expect(pageOf([], 'list', undefined, 10)).toEqual({ page: [] });
    expect(pageOf(list.slice(0, 10), 'list', nextCursor, 10)).toEqual({ page: [] });
  });
});

describe('what MCP clients read about arguments and results', () => {
  const schema = {
    type: 'object',
    properties: {
      unit: { type: 'string', enum: ['celsius', 'Fahrenheit', 'kelvin'] },
      deep: { type: 'boolean' },
      either: { anyOf: [{ const: 'one' }, { enum: ['two', 3] }, { type: 'string' }] },
      several: { type: 'array', items: { enum: ['a', 'b'] } },
      free: { type: 'string' },
    },
  };

  it('are the values that an argument’s schema lists, of which those that begin as written are given', () => {
    expect(completed(listedValues(schema, 'unit'), 'f').values).toEqual(['Fahrenheit']);
    expect(completed(listedValues(schema, 'deep'), '').values).toEqual(['true', 'false']);
    expect(listedValues(schema, 'either')).toEqual(['one', 'two', '3']);
    expect(listedValues(schema, 'several')).toEqual(['a', 'b']);
    for (const name of ['free', 'nothing', '__proto__', 'constructor']) expect(listedValues(schema, name)).toEqual([]);
    const many = Array.from({ length: 250 }, (_, n) => `v${n}`);
    expect(completed(many, 'v')).toMatchObject({ total: 250, hasMore: true, values: { length: 100 } });
  });

  it('are a list of content blocks where a tool gives nothing else (M-22)', () => {
    const image = { type: 'image', data: 'iVBORw0=', mimeType: 'image/png' };
    const resource = { type: 'resource', resource: { uri: 'a://b', text: 'x' } };
    const link = { type: 'resource_link', uri: 'a://b', name: 'b' };
    expect(blocksIn([{ type: 'text', text: 'x' }, image, resource, link])).toHaveLength(4);
    expect(resultOf(step(JSON.stringify([image])), 't', { requestId: 'r' }).content).toEqual([image]);
    for (const other of [
      [],
      [{ type: 'text', text: 'x' }],
      [image, 1],
      [{ ...image, data: '<b>' }],
      [{ type: 'video' }],
      image,
    ])
      expect(blocksIn(other)).toBeNull();
  });

  it('have an address for each tool, whatever its name', () => {
    for (const name of ['a', 'server:tool', 'a/b?c', 'ä']) expect(toolOfPage(toolPageUri(name))).toBe(name);
    for (const wrong of ['file:///etc/passwd', 'sluice://tools/%E0%A4%A', 'sluice://other/a'])
      expect(toolOfPage(wrong)).toBeNull();
  });

  it('have a state credential that is no token of an issuer, nor the other way round', () => {
    const written = { session: '0b9c6c7e-7c1f-4a53-9f0e-0d8c3c1f2a3b', secret: 'A'.repeat(43), token: 'a.b.c' };
    expect(readCredential(writeCredential(written))).toEqual(written);
    expect(readCredential(writeCredential({ ...written, token: null }))).toEqual({ ...written, token: null });
    for (const other of ['', 'a.b.c', 'sst_', `sst_${written.session}.short`, `sst_x.${written.secret}`])
      expect(readCredential(other)).toBeNull();
  });
});
