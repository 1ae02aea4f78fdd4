import { describe, expect, it } from '@jest/globals';
import {
  decodeRequest,
  encodeRequest,
  type MessagePart,
  translateRequest,
  type WireName,
  wireNames,
} from '@sluice/wires';

const messages = JSON.stringify({
  model: 'claude-sonnet-4-5',
  max_tokens: 100,
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  messages: [
    { role: 'user', content: 'Who?' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 's' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'find', input: { n: 1 } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'None.', is_error: true }] },
  ],
  tools: [
    { name: 'find', description: 'Finds', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } },
  ],
  tool_choice: { type: 'any' },
  metadata: { user_id: 'u' },
});

describe('a request of one wire in another', () => {
  it('keeps what both can say, and lists what it dropped: Messages in, Chat Completions out', () => {
    const { body, dropped } = translateRequest('anthropic', 'openai-chat', messages);
    expect(JSON.parse(body)).toEqual({
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Who?' },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [{ id: 'toolu_1', type: 'function', function: { name: 'find', arguments: '{"n":1}' } }],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'None.' },
      ],
      tools: [{ type: 'function', function: { name: 'find', description: 'Finds', parameters: { type: 'object' } } }],
      tool_choice: 'required',
    });
    expect(dropped).toEqual([
      '`metadata`',
      '`system[0].cache_control`',
      '`tools[0].cache_control`',
      'reasoning of an earlier turn',
      'a result’s error mark',
    ]);
  });

  it.each(wireNames.flatMap((from) => wireNames.map((to) => [from, to] as const)))(
    'says the same in %s as in %s, question, calls, results and tools',
    (from: WireName, to: WireName) => {
      const request = decodeRequest('anthropic', messages);
      // What only one of them can say is another test’s.
      const plain = request.messages.map((message) => ({
        ...message,
        parts: message.parts.flatMap((part): MessagePart[] => {
          if (part.type === 'reasoning') return [];
          return part.type === 'result' ? [{ ...part, isError: false }] : [part];
        }),
      }));
      const { body } = encodeRequest(from, { ...request, messages: plain });
      const { body: translated, dropped } = translateRequest(from, to, body);
      expect(dropped).toEqual([]);
      const back = decodeRequest(to, translated);
      expect([back.messages, back.tools, back.toolChoice, back.instructions, back.maxOutputTokens, back.query]).toEqual(
        [plain, request.tools, request.toolChoice, 'Be brief.', 100, 'Who?'],
      );
    },
  );
});
