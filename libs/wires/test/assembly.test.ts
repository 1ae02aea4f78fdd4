import { describe, expect, it } from '@jest/globals';
import { type DecodedTurn, encodeRequest } from '@sluice/wires';
import { awsMessage, readPieces } from './streams.js';

const done = 'data: [DONE]\n\n';

/** A Chat Completions stream of these deltas of calls. */
function chat(deltas: readonly object[], finish: string | null = 'tool_calls'): DecodedTurn {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const text = [
    ...deltas.map((call) => chunk({ tool_calls: [call] })),
    ...(finish === null ? [] : [chunk({}, finish)]),
    done,
  ];
  return readPieces('openai-chat', [Buffer.from(text.join(''))]);
}

const calls = ({ parts }: DecodedTurn) =>
  parts.flatMap((part) => (part.type === 'call' ? [[part.toolCallId, part.name, part.args]] : []));
const begin = (name: string, rest: object = {}, written = '') => ({ ...rest, function: { name, arguments: written } });
const more = (written: string, rest: object = {}) => ({ ...rest, function: { arguments: written } });

describe('calls of Chat Completions in deltas (T-08a, T-15c)', () => {
  it.each<[string, object[], string[][]]>([
    [
      'interleaved, by their index',
      [
        begin('a', { index: 0, id: 'x' }),
        begin('b', { index: 1, id: 'y' }),
        more('{"n":', { index: 0 }),
        more('{"m":', { index: 1 }),
        more('1}', { index: 0 }),
        more('2}', { index: 1 }),
      ],
      [
        ['x', 'a', '{"n":1}'],
        ['y', 'b', '{"m":2}'],
      ],
    ],
    [
      'index 0 for all of them',
      [
        begin('a', { index: 0, id: 'x' }, '{"n":1}'),
        begin('a', { index: 0, id: 'y' }, '{"n":'),
        more('2}', { index: 0 }),
      ],
      [
        ['x', 'a', '{"n":1}'],
        ['y', 'a', '{"n":2}'],
      ],
    ],
    [
      'no index at all',
      [begin('a', { id: 'x' }, '{"n"'), more(':1}'), begin('b', { id: 'y' }, '{}')],
      [
        ['x', 'a', '{"n":1}'],
        ['y', 'b', '{}'],
      ],
    ],
    [
      'neither index nor id',
      [begin('a', {}, '{"n":1}'), begin('a', {}, '{"n":2}'), begin('b', {}, '{"n"'), more(':3}')],
      [
        ['', 'a', '{"n":1}'],
        ['', 'a', '{"n":2}'],
        ['', 'b', '{"n":3}'],
      ],
    ],
    [
      'the id with every delta',
      [begin('a', { index: 0, id: 'x' }), more('{"n"', { index: 0, id: 'x' }), more(':1}', { index: 0, id: 'x' })],
      [['x', 'a', '{"n":1}']],
    ],
    [
      'the name with every delta',
      [begin('a', { index: 0, id: 'x' }, '{"n"'), begin('a', { index: 0, id: '' }, ':1}')],
      [['x', 'a', '{"n":1}']],
    ],
    [
      'index 0 for all, interleaved by their ids',
      [
        begin('a', { index: 0, id: 'x' }, '{"n":'),
        begin('b', { index: 0, id: 'y' }, '{"m":'),
        more('1}', { index: 0, id: 'x' }),
        more('2}', { index: 0, id: 'y' }),
      ],
      [
        ['x', 'a', '{"n":1}'],
        ['y', 'b', '{"m":2}'],
      ],
    ],
    [
      'one id for two calls',
      [begin('a', { index: 0, id: 'x' }, '{"n":1}'), begin('b', { index: 1, id: 'x' }, '{"n":2}')],
      [
        ['x', 'a', '{"n":1}'],
        ['x', 'b', '{"n":2}'],
      ],
    ],
    ['empty arguments', [begin('a', { index: 0, id: 'x' })], [['x', 'a', '{}']]],
    ['absent arguments', [{ index: 0, id: 'x', function: { name: 'a' } }], [['x', 'a', '{}']]],
    [
      'arguments as an object',
      [{ index: 0, id: 'x', function: { name: 'a', arguments: { n: 1 } } }],
      [['x', 'a', '{"n":1}']],
    ],
    [
      'null for what is not there',
      [{ index: 0, id: 'x', type: null, function: { name: 'a', arguments: null } }],
      [['x', 'a', '{}']],
    ],
    [
      'arguments that are no JSON, as they are',
      [begin('a', { index: 0, id: 'x' }, '{"n": }')],
      [['x', 'a', '{"n": }']],
    ],
  ])('are assembled with %s', (_, deltas, expected) => {
    expect(calls(chat(deltas))).toEqual(expected);
  });

  it('are assembled again in every stream, however many run at once', () => {
    const [one, other] = ['left', 'right'].map((side) =>
      chat([begin('a', { index: 0, id: side }, '{"side":"'), more(side, { index: 0 }), more('"}', { index: 0 })]),
    );
    expect([calls(one as DecodedTurn), calls(other as DecodedTurn)]).toEqual([
      [['left', 'a', '{"side":"left"}']],
      [['right', 'a', '{"side":"right"}']],
    ]);
  });

  it('keep what must come back to the provider', () => {
    const [part] = chat([
      { ...begin('a', { index: 0, id: 'x' }, '{}'), extra_content: { google: { thought_signature: 's' } } },
    ]).parts;
    expect(part).toMatchObject({
      echo: { wire: 'openai-chat', fields: { extra_content: { google: { thought_signature: 's' } } } },
    });
  });

  it('come from the function_call of older servers too', () => {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const text = [
      chunk({ function_call: { name: 'a', arguments: '' } }),
      chunk({ function_call: { arguments: '{"n":1}' } }),
      chunk({}, 'function_call'),
      done,
    ];
    expect(calls(readPieces('openai-chat', [Buffer.from(text.join(''))]))).toEqual([['', 'a', '{"n":1}']]);
  });
});

describe('blocks of Messages', () => {
  it('are assembled by their index, interleaved too', () => {
    const event = (type: string, rest: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
    const start = (index: number, name: string) =>
      event('content_block_start', { index, content_block: { type: 'tool_use', id: name, name, input: {} } });
    const delta = (index: number, partial_json: string) =>
      event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } });
    const text = [
      event('message_start', { message: { id: 'm' } }),
      start(0, 'a'),
      start(1, 'b'),
      delta(0, '{"n":'),
      delta(1, '{"m":'),
      delta(0, '1}'),
      delta(1, '2}'),
      event('message_delta', { delta: { stop_reason: 'tool_use' } }),
      event('message_stop'),
    ];
    expect(calls(readPieces('anthropic', [Buffer.from(text.join(''))]))).toEqual([
      ['a', 'a', '{"n":1}'],
      ['b', 'b', '{"m":2}'],
    ]);
  });
});

describe('what must come back to the provider', () => {
  it('is an Anthropic signature whole, in however many pieces it came', () => {
    const event = (type: string, rest: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
    const delta = (rest: object) => event('content_block_delta', { index: 0, delta: rest });
    const text = [
      event('message_start', { message: { id: 'm' } }),
      event('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
      delta({ type: 'thinking_delta', thinking: 'Hm.' }),
      ...['one-', 'two-', 'three'].map((signature) => delta({ type: 'signature_delta', signature })),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason: 'end_turn' } }),
      event('message_stop'),
    ];
    expect(readPieces('anthropic', [Buffer.from(text.join(''))]).parts).toEqual([
      { type: 'reasoning', text: 'Hm.', echo: { wire: 'anthropic', fields: { signature: 'one-two-three' } } },
    ]);
  });

  it('is each part of Gemini up to its signature, and what follows is a part of its own', () => {
    const chunk = (parts: readonly object[], rest: object = {}) =>
      `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, ...rest }] })}\n\n`;
    const text = [
      chunk([{ text: 'Hm, ', thought: true }]),
      chunk([{ text: 'so.', thought: true, thoughtSignature: 'of-thought' }]),
      chunk([{ text: 'And?', thought: true }]),
      chunk([{ text: 'Yes', thoughtSignature: 'of-text' }, { text: ', it ' }]),
      chunk([{ text: 'is.' }], { finishReason: 'STOP' }),
    ];
    const echo = (fields: object) => ({ echo: { wire: 'gemini', fields } });
    expect(readPieces('gemini', [Buffer.from(text.join(''))]).parts).toEqual([
      { type: 'reasoning', text: 'Hm, so.', ...echo({ thoughtSignature: 'of-thought' }) },
      { type: 'reasoning', text: 'And?', ...echo({}) },
      { type: 'text', text: 'Yes', ...echo({ thoughtSignature: 'of-text' }) },
      { type: 'text', text: ', it is.' },
    ]);
  });

  it('is what Bedrock redacted of a thought, and goes back as it came', () => {
    const delta = (contentBlockIndex: number, rest: object) =>
      awsMessage('contentBlockDelta', JSON.stringify({ contentBlockIndex, delta: rest }));
    const redacted = 'c2VjcmV0IHRob3VnaHQ=';
    const turn = readPieces('bedrock', [
      awsMessage('messageStart', '{"role":"assistant"}'),
      delta(0, { reasoningContent: { redactedContent: redacted } }),
      awsMessage('contentBlockStop', '{"contentBlockIndex":0}'),
      delta(1, { text: 'Done.' }),
      awsMessage('contentBlockStop', '{"contentBlockIndex":1}'),
      awsMessage('messageStop', '{"stopReason":"end_turn"}'),
    ]);
    expect(turn.parts).toEqual([
      { type: 'reasoning', text: '', echo: { wire: 'bedrock', fields: { redactedContent: redacted } } },
      { type: 'text', text: 'Done.' },
    ]);
    const { body } = encodeRequest('bedrock', {
      ...{ model: 'm', instructions: '', tools: [], toolChoice: null, maxOutputTokens: 100, temperature: null },
      ...{ topP: null, stopSequences: [], stream: true },
      messages: [
        { role: 'user', parts: [{ type: 'text', text: 'Go.' }] },
        { role: 'assistant', parts: turn.parts },
        { role: 'user', parts: [{ type: 'text', text: 'On.' }] },
      ],
    });
    const { messages } = JSON.parse(body) as { messages: readonly { content: unknown }[] };
    expect(messages[1]?.content).toEqual([{ reasoningContent: { redactedContent: redacted } }, { text: 'Done.' }]);
  });
});
