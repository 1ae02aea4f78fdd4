import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '@sluice/core';
import { acceptedBy, argumentsKind, argumentsRefusal, messageOfClient } from '@sluice/mcp';

const call = (params: JsonObject): JsonObject => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });

describe('a message as clients write it', () => {
  it('has no members that are null, but for those of the arguments', () => {
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect(messageOfClient({ ...list, params: null })).toEqual(list);
    expect(messageOfClient({ ...list, params: { cursor: null, _meta: null } })).toEqual({ ...list, params: {} });
    expect(messageOfClient(call({ name: 'now', arguments: null, _meta: { progressToken: null } }))).toEqual(
      call({ name: 'now', _meta: {} }),
    );
    const whole = call({ name: 'now', arguments: { zone: null } });
    expect(messageOfClient(whole)).toBe(whole);
  });

  it.each([
    ['a text', '{"zone":"UTC"}', 'came as a text, which may hold JSON,'],
    ['a list', ['UTC'], 'came as a list,'],
    ['a number', 7, 'came as a number,'],
  ])('whose arguments are %s is a call that the model reads an error of (M-30)', (_, given, said) => {
    const { params } = messageOfClient(call({ name: 'now', arguments: given })) as JsonObject & {
      readonly params: { readonly _meta: JsonObject };
    };
    expect(params).not.toHaveProperty('arguments');
    expect(argumentsRefusal(params._meta, 'now')).toContain(said);
    expect(argumentsRefusal({ [argumentsKind]: 'constructor' }, 'now')).toContain('came as something else');
    expect(argumentsRefusal({}, 'now')).toBeNull();
  });

  it('that answers is left as it is', () => {
    const answer = { jsonrpc: '2.0', id: 1, result: null };
    expect(messageOfClient(answer)).toBe(answer);
  });
});

describe('what a client accepts', () => {
  const both = 'application/json, text/event-stream';
  it.each([
    [undefined, both],
    ['', both],
    ['*/*', both],
    ['application/*, text/*;q=0.5', both],
    ['application/json, */*;q=0.1', both],
    ['text/event-stream;q=0.9,application/json', both],
    ['application/json', 'application/json'],
    ['text/html', 'text/html'],
    ['*/*, text/event-stream;q=0', '*/*, text/event-stream;q=0'],
  ])('by %p is %p', (header, expected) => {
    expect(acceptedBy(header)).toBe(expected);
  });
});
