import { describe, expect, it } from '@jest/globals';
import { decodeRequest, editRequest, type WireName, type WireTool } from '@sluice/wires';
import fc from 'fast-check';
import { JsonSpan } from '../src/json/span.js';

const added: WireTool = { name: 'core__new', description: 'New', inputSchema: { type: 'object' } };
const tool = (name: string, rest = '') => `{ "name": "${name}", "input_schema": {"type":"object"}${rest} }`;
const keep =
  (...names: readonly string[]) =>
  (name: string) =>
    names.includes(name);

describe('a request’s tools', () => {
  const body = `{ "tools" :[ ${tool('a')},\n  ${tool('b', ', "cache_control": {"type":"ephemeral"}')} ,\t${tool('c')} ], "x": 1.0 }`;

  it.each<[string, string, string]>([
    [
      'first',
      'b c',
      `{ "tools" :[ ${tool('b', ', "cache_control": {"type":"ephemeral"}')} ,\t${tool('c')} ], "x": 1.0 }`,
    ],
    ['middle one', 'a c', `{ "tools" :[ ${tool('a')},\n  ${tool('c')} ], "x": 1.0 }`],
    [
      'last',
      'a b',
      `{ "tools" :[ ${tool('a')},\n  ${tool('b', ', "cache_control": {"type":"ephemeral"}')} ], "x": 1.0 }`,
    ],
    ['first and last', 'b', `{ "tools" :[ ${tool('b', ', "cache_control": {"type":"ephemeral"}')} ], "x": 1.0 }`],
    ['last two', 'a', `{ "tools" :[ ${tool('a')} ], "x": 1.0 }`],
  ])('lose the %s and keep every other byte', (_, kept, expected) => {
    expect(editRequest('anthropic', body, { keepTool: keep(...kept.split(' ')) })).toBe(expected);
  });

  it('go with what speaks of them where none is left', () => {
    const whole = `{"model":"m", "tools": [${tool('a')}] , "tool_choice":{"type":"any"},"messages":[ ]}`;
    expect(editRequest('anthropic', whole, { keepTool: keep() })).toBe('{"model":"m", "messages":[ ]}');
    const last = `{"messages":[ ],"tools": [${tool('a')}]}`;
    expect(editRequest('anthropic', last, { keepTool: keep() })).toBe('{"messages":[ ]}');
    expect(editRequest('anthropic', `{"tools":[${tool('a')}]}`, { keepTool: keep() })).toBe('{}');
  });

  it('are put in the place of those that go, and into a request that has none', () => {
    const replaced = editRequest('anthropic', body, { keepTool: keep(), addTools: [added] });
    expect(replaced).toBe(
      '{ "tools" :[ {"name":"core__new","description":"New","input_schema":{"type":"object"}} ], "x": 1.0 }',
    );
    expect(editRequest('anthropic', '{}', { addTools: [added] })).toBe(
      '{"tools":[{"name":"core__new","description":"New","input_schema":{"type":"object"}}]}',
    );
  });

  it('of the provider stay', () => {
    const whole = `{"tools":[{"type":"web_search_20250305","name":"web_search"},${tool('a')}]}`;
    expect(editRequest('anthropic', whole, { keepTool: keep() })).toBe(
      '{"tools":[{"type":"web_search_20250305","name":"web_search"}]}',
    );
    const gemini = '{"tools":[{"functionDeclarations":[{"name":"a"}]},{"googleSearch":{}}]}';
    expect(editRequest('gemini', gemini, { keepTool: keep() })).toBe(
      '{"tools":[{"functionDeclarations":[]},{"googleSearch":{}}]}',
    );
  });

  it.each<[WireName, string]>([
    ['openai-chat', '{"a":"\\u00fc",  "messages":[]}'],
    ['openai-responses', '{"input":"Hi  there"}'],
    ['gemini', '{"contents":[]}'],
    ['bedrock', '{"messages":[] , "toolConfig":{ "toolChoice":{"auto":{}} }}'],
    ['bedrock', '{"messages":[]}'],
    ['bedrock-anthropic', '{"anthropic_version":"bedrock-2023-05-31","messages":[]}'],
  ])('and messages are added to a request of %s: %s', (wire, whole) => {
    const edited = editRequest(wire, whole, {
      addTools: [added],
      addMessages: [{ role: 'user', parts: [{ type: 'text', text: 'More.' }] }],
    });
    const back = decodeRequest(wire, edited);
    expect([back.tools.map(({ name }) => name), back.query]).toEqual([['core__new'], 'More.']);
  });
});

describe('a value’s place in a JSON text', () => {
  it('is found in any text, however it is written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = ` ${JSON.stringify(value, null, indent)}\n`;
        const check = (span: JsonSpan, expected: unknown): void => {
          expect(JSON.parse(span.source)).toEqual(expected);
          if (Array.isArray(expected)) span.items.forEach((item, index) => check(item, expected[index]));
          else if (typeof expected === 'object' && expected !== null)
            for (const { name, value: member } of span.members)
              check(member, (expected as Record<string, unknown>)[name]);
        };
        check(JsonSpan.of(text), JSON.parse(text));
      }),
    );
  });

  it('is found behind strings that end in backslashes, in repeated names and at any depth', () => {
    expect(JsonSpan.of('{"a":"\\\\","b":"\\"]","b":[1,{"c":2}]}').member('b')?.items[1]?.source).toBe('{"c":2}');
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(JsonSpan.of(deep).items[0]?.source).toHaveLength(199_998);
  });
});
