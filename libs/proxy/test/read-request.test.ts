import { describe, expect, it } from '@jest/globals';
import { endpointOf, readRequest } from '@sluice/proxy';

const schema = { type: 'object', properties: {} };
const names = ['a', 'b'];
const turns = [
  { role: 'user', content: 'first' },
  { role: 'assistant', content: 'yes?' },
  { role: 'user', content: 'the question' },
];
const blocks = (type: object) => turns.map(({ role, content }) => ({ role, content: [{ ...type, text: content }] }));

/** The same conversation as each API writes it. */
const requests: readonly (readonly [path: string, body: object])[] = [
  [
    '/v1/chat/completions',
    {
      ...{ model: 'm', messages: turns },
      tools: names.map((name) => ({ type: 'function', function: { name, parameters: schema } })),
    },
  ],
  [
    '/v1/responses',
    { model: 'm', input: turns, tools: names.map((name) => ({ type: 'function', name, parameters: schema })) },
  ],
  [
    '/v1/messages',
    {
      ...{ model: 'm', max_tokens: 9, messages: blocks({ type: 'text' }) },
      tools: names.map((name) => ({ name, input_schema: schema })),
    },
  ],
  [
    '/model/m/converse',
    {
      messages: blocks({}),
      toolConfig: { tools: names.map((name) => ({ toolSpec: { name, inputSchema: { json: schema } } })) },
    },
  ],
];

describe('a request to a model API', () => {
  it.each(requests)('%s is read once into its tools and its last question (DS-30, DS-31, DS-35)', (path, body) => {
    const endpoint = endpointOf('POST', path);
    if (endpoint === null) throw new Error(`${path} is none.`);
    const text = JSON.stringify(body);
    const request = readRequest(endpoint, text);
    expect(request?.tools.map(({ name }) => name)).toEqual(names);
    expect(request?.decoded.query).toBe('the question');
    for (const { raw } of request?.tools ?? []) expect(text).toContain(raw);
  });
});
