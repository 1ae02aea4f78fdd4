import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { make } from '@sluice/contracts';
import { promptHash } from '@sluice/core';
import type { JsonObject, ModelRequest } from '@sluice/core';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const tool = (inputSchema: JsonObject) => ({ id: 'core__find', description: 'Finds things', inputSchema });
const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, top: { type: 'integer' } },
  required: ['name'],
};
const request: ModelRequest = {
  instructions: 'Be brief.',
  question: 'Who?',
  state: 's',
  history: [],
  tools: [tool(schema)],
  toolChoice: { type: 'auto' },
};
const hashOf = (changes: Partial<ModelRequest>): string =>
  promptHash({ ...request, ...changes }, 'scripted/one', sha256);

describe('the hash of what a model was asked (K-51, XB-44)', () => {
  it('is another for another schema, at any depth', () => {
    const changed = { ...schema, properties: { ...schema.properties, top: { type: 'number' } } };
    expect(hashOf({ tools: [tool(changed)] })).not.toBe(hashOf({}));
    expect(hashOf({ tools: [tool({ ...schema, required: [] })] })).not.toBe(hashOf({}));
  });

  it('is the same whatever the order of keys, and another for tools in another order', () => {
    const { type, properties, required } = schema;
    const reordered = { required, properties: { top: properties.top, name: properties.name }, type };
    expect(hashOf({ tools: [tool(reordered)] })).toBe(hashOf({}));
    const two = [tool(schema), { ...tool(schema), id: 'core__other' }];
    expect(hashOf({ tools: two.toReversed() })).not.toBe(hashOf({ tools: two }));
  });

  it('is the same for no tools and an empty list of them', () => {
    const { tools: _tools, toolChoice: _auto, ...none } = request;
    expect(promptHash(none, 'scripted/one', sha256)).toBe(hashOf({ tools: [] }));
    expect(hashOf({ tools: [] })).not.toBe(hashOf({}));
  });

  it.each([
    { question: 'What?' },
    { instructions: 'Be long.' },
    { tools: [{ ...tool(schema), description: 'Finds' }] },
    { toolChoice: { type: 'none' } } as const,
    { toolChoice: { type: 'tool', id: 'core__find' } } as const,
  ])('is another for another %j', (changes) => expect(hashOf(changes)).not.toBe(hashOf({})));

  it('has images and files by their hashes, and is what it was where there are none', () => {
    const content = (hash: string) => [{ hash, type: 'image/png', size: 1, kind: 'image', name: null }];
    const step = (of: string | null): Partial<ModelRequest> => ({
      history: [{ ...make.agentStep({ content: of === null ? [] : content(of) }), toolId: 't' }],
    });
    const hashes = [
      hashOf({ content: content('a') }),
      hashOf({ content: content('b') }),
      hashOf(step('a')),
      hashOf(step('b')),
    ];
    expect(new Set([...hashes, hashOf({}), hashOf(step(null))]).size).toBe(6);
    expect(hashOf({ content: [] })).toBe(hashOf({}));
  });
});
