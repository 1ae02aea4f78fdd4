import { describe, expect, it } from '@jest/globals';
import {
  errorSentence,
  decodeRequest,
  decodeStream,
  decodeTurn,
  type DecodedTurn,
  largestTurn,
  RequestFault,
  WireFault,
  type WireName,
  wireNames,
} from '@sluice/wires';
import { awsMessage, readPieces } from './streams.js';

/** One text of an answer on each wire, and its end, as the provider streams them. */
const sse = (data: unknown) => Buffer.from(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
const aws = (type: string, data: unknown) => awsMessage(type, JSON.stringify(data));
const chunk = (data: unknown) => aws('chunk', { bytes: Buffer.from(JSON.stringify(data)).toString('base64') });
const blockStart = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
const blockDelta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } };
const chat = (delta: unknown, finish_reason: string | null = null) =>
  sse({ choices: [{ index: 0, delta, finish_reason }] });

const half: Readonly<Record<WireName, readonly Buffer[]>> = {
  'openai-chat': [chat({ content: 'Half' })],
  'openai-responses': [
    sse({ type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm', content: [] } }),
    sse({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Half' }),
  ],
  anthropic: [sse(blockStart), sse(blockDelta)],
  gemini: [sse({ candidates: [{ content: { parts: [{ text: 'Half' }] } }] })],
  bedrock: [aws('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Half' } })],
  'bedrock-anthropic': [chunk(blockStart), chunk(blockDelta)],
};
const end: Readonly<Record<WireName, readonly Buffer[]>> = {
  'openai-chat': [chat({}, 'stop'), sse('[DONE]')],
  'openai-responses': [sse({ type: 'response.completed', response: { id: 'r', model: 'm', status: 'completed' } })],
  anthropic: [sse({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }), sse({ type: 'message_stop' })],
  gemini: [sse({ candidates: [{ finishReason: 'STOP' }] })],
  bedrock: [aws('messageStop', { stopReason: 'end_turn' })],
  'bedrock-anthropic': [
    chunk({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }),
    chunk({ type: 'message_stop' }),
  ],
};
const failing: Readonly<Record<WireName, Buffer>> = {
  'openai-chat': sse({ error: { message: 'secret words', type: 'server_error', code: null } }),
  'openai-responses': sse({ type: 'error', code: 'server_error', message: 'secret words', param: null }),
  anthropic: sse({ type: 'error', error: { type: 'overloaded_error', message: 'secret words' } }),
  gemini: sse({ error: { code: 503, message: 'secret words', status: 'UNAVAILABLE' } }),
  bedrock: awsMessage('throttlingException', '{"message":"secret words"}', 'exception'),
  'bedrock-anthropic': awsMessage('modelStreamErrorException', '{"message":"secret words"}', 'exception'),
};
const refusing: Readonly<Record<WireName, Buffer>> = {
  'openai-chat': sse({
    error: { message: 'secret words', type: 'invalid_request_error', code: 'context_length_exceeded' },
  }),
  'openai-responses': sse({
    type: 'response.failed',
    response: { status: 'failed', error: { code: 'invalid_prompt', message: 'secret words' } },
  }),
  anthropic: sse({ type: 'error', error: { type: 'invalid_request_error', message: 'secret words' } }),
  gemini: sse({ error: { code: 400, message: 'secret words', status: 'INVALID_ARGUMENT' } }),
  bedrock: awsMessage('validationException', '{"message":"secret words"}', 'exception'),
  'bedrock-anthropic': chunk({ type: 'error', error: { type: 'permission_error', message: 'secret words' } }),
};

function faultOf(work: () => unknown): WireFault {
  try {
    work();
  } catch (error) {
    if (error instanceof WireFault) return error;
    throw error;
  }
  throw new Error('A fault was expected.');
}
const text = ({ parts }: DecodedTurn) => parts.map((part) => (part.type === 'text' ? part.text : part.type)).join('');
const noted = ({ notes }: DecodedTurn) => notes.map(({ kind, what, count }) => [kind, what, count]);

describe.each(wireNames)('a stream of %s', (wire) => {
  const read = (...pieces: readonly Buffer[]) => readPieces(wire, [Buffer.concat(pieces)]);

  it('that is sound is read without a note', () => {
    const turn = read(...half[wire], ...end[wire]);
    expect([text(turn), turn.finish, turn.notes]).toEqual(['Half', 'stop', []]);
  });

  it('that is cut is asked for again', () => {
    for (const pieces of [[], half[wire]]) {
      const fault = faultOf(() => read(...pieces));
      expect([fault.kind, fault.isRetryable]).toEqual(['cut_off', true]);
      expect(fault.predicate).toBe('broke off before the end of its turn; it can be asked again.');
    }
  });

  it('that is cut within an event is asked for again, or is no JSON', () => {
    const bytes = Buffer.concat(half[wire]);
    const fault = faultOf(() => read(bytes.subarray(0, bytes.length - 9)));
    expect(['cut_off', 'not_json']).toContain(fault.kind);
    expect(fault.isRetryable).toBe(true);
  });

  it('that is an HTML page is not requested again', () => {
    const fault = faultOf(() => read(Buffer.from('\n<!doctype html><html>Sign in</html>')));
    expect([fault.kind, fault.isRetryable]).toEqual(['html', false]);
    expect(fault.predicate).toContain('an HTML page');
    expect(faultOf(() => decodeTurn(wire, '<html></html>')).kind).toBe('html');
  });

  it('that reports an error which may pass says so, by its name and nothing else', () => {
    const fault = faultOf(() => read(...half[wire], failing[wire]));
    expect([fault.kind, fault.isRetryable]).toEqual(['provider_error', true]);
    expect(fault.errorName).not.toBe('');
    expect(fault.message).not.toContain('secret');
  });

  it('that refuses the request is not requested again', () => {
    const fault = faultOf(() => read(...half[wire], refusing[wire]));
    expect([fault.kind, fault.isRetryable]).toEqual(['provider_error', false]);
    expect(fault.message).not.toContain('secret');
  });

  it('that is JSON of something else says what is missing', () => {
    const fault = faultOf(() => read(Buffer.from('{"ok":true}')));
    expect([fault.kind, fault.isRetryable]).toEqual(['wrong_shape', false]);
  });

  it('that is no JSON says so', () => {
    const fault = faultOf(() => decodeTurn(wire, 'upstream timed out'));
    expect([fault.kind, fault.isRetryable]).toEqual(['not_json', true]);
  });

  it('that holds events and fields that are not known is read, and they are counted', () => {
    const unknown = { type: 'new_event', brand_new: 1 };
    const pieces =
      wire === 'bedrock'
        ? [aws('newEvent', unknown)]
        : wire === 'bedrock-anthropic'
          ? [chunk(unknown)]
          : [sse(unknown)];
    const turn = read(...half[wire], ...pieces, ...pieces, ...end[wire]);
    expect(text(turn)).toBe('Half');
    expect(turn.notes.some(({ count }) => count === 2)).toBe(true);
    for (const { kind } of turn.notes) expect(['unknown_event', 'unknown_field']).toContain(kind);
  });

  it('of more than 4 MB is not read on', () => {
    const decoder = decodeStream(wire);
    const fault = faultOf(() => {
      for (const piece of half[wire]) decoder.push(piece);
      for (let n = 0; n <= largestTurn; n += 1 << 16)
        decoder.push(Buffer.alloc(1 << 16, wire.includes('bedrock') ? 0 : 0x0a));
    });
    expect(['too_long', 'damaged']).toContain(fault.kind);
  });

  it('hands each text on when it comes, and what the receiver throws passes as it is', () => {
    const said: string[] = [];
    const decoder = decodeStream(wire, { onText: (piece) => said.push(piece) });
    for (const piece of half[wire]) decoder.push(piece);
    expect(said).toEqual(['Half']);
    const mistake = new TypeError('no such page');
    const throwing = decodeStream(wire, {
      onText: () => {
        throw mistake;
      },
    });
    expect(() => {
      for (const piece of half[wire]) throwing.push(piece);
    }).toThrow(mistake);
  });
});

describe('values of the wrong type', () => {
  it.each<[WireName, Buffer, string]>([
    ['openai-chat', chat({ content: 5 }), '`choices[0].delta.content`'],
    ['openai-chat', sse({ choices: {} }), '`choices`'],
    [
      'openai-chat',
      chat({ tool_calls: [{ index: 0, function: { name: 7 } }] }),
      '`choices[0].delta.tool_calls[0].function.name`',
    ],
    ['openai-responses', sse({ type: 'response.output_item.added', output_index: 'x', item: {} }), '`output_index`'],
    ['anthropic', sse({ ...blockStart, content_block: { type: 'text', text: {} } }), '`content_block.text`'],
    [
      'gemini',
      sse({ candidates: [{ content: { parts: [{ text: ['a'] }] } }] }),
      '`candidates[0].content.parts[0].text`',
    ],
    ['bedrock', aws('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 1 } }), '`delta.text`'],
  ])('over %s name their field', (wire, piece, field) => {
    const fault = faultOf(() => readPieces(wire, [piece]));
    expect([fault.kind, fault.isRetryable]).toEqual(['wrong_type', false]);
    expect(fault.predicate).toContain(field);
  });

  it('of a client’s request name their field too', () => {
    const fault = (wire: WireName, body: unknown) => () => decodeRequest(wire, JSON.stringify(body));
    expect(fault('openai-chat', { messages: [{ role: 'user', content: 5 }] })).toThrow(
      '`messages[0].content` must be a list.',
    );
    expect(fault('anthropic', { messages: 'x' })).toThrow('`messages` must be a list.');
    expect(fault('gemini', { contents: [{ parts: [{ functionCall: {} }] }] })).toThrow(
      '`contents[0].parts[0].functionCall.name` must be a text.',
    );
    expect(fault('bedrock', { messages: [{}] })).toThrow(RequestFault);
    expect(() => decodeRequest('openai-chat', 'x')).toThrow('The request’s body is not JSON.');
    expect(fault('openai-responses', [])).toThrow('The request’s body must be a JSON object.');
  });
});

describe('what is taken in good part', () => {
  it('a complete answer with its last word but without a reason', () => {
    const turn = readPieces('openai-chat', [Buffer.concat([...half['openai-chat'], sse('[DONE]')])]);
    expect([text(turn), turn.finish, noted(turn)]).toEqual(['Half', 'stop', [['finish_missing', '(other)', 1]]]);
  });

  it('but not one whose call is half written, nor one of nothing', () => {
    const call = chat({ tool_calls: [{ index: 0, id: 'x', function: { name: 'a', arguments: '{"n' } }] });
    expect(faultOf(() => readPieces('openai-chat', [call, sse('[DONE]')])).kind).toBe('cut_off');
    expect(faultOf(() => readPieces('openai-chat', [sse('[DONE]')])).kind).toBe('cut_off');
  });

  it('calls beside an end that is of an answer, and the other way round', () => {
    const call = chat({ tool_calls: [{ index: 0, id: 'x', function: { name: 'a', arguments: '{}' } }] });
    const calls = readPieces('openai-chat', [call, chat({}, 'stop')]);
    expect([calls.finish, noted(calls)]).toEqual(['calls', [['calls_beside_stop', 'stop', 1]]]);
    const answer = readPieces('openai-chat', [...half['openai-chat'], chat({}, 'tool_calls')]);
    expect([answer.finish, noted(answer)]).toEqual(['stop', [['finish_without_calls', 'tool_calls', 1]]]);
  });

  it('a whole answer where a stream was asked for', () => {
    const body = JSON.stringify({ choices: [{ message: { content: 'Whole' }, finish_reason: 'stop' }] });
    const said: string[] = [];
    const decoder = decodeStream('openai-chat', { onText: (piece) => said.push(piece) });
    for (const byte of Buffer.from(` ${body}`)) decoder.push(Uint8Array.of(byte));
    const turn = decoder.end();
    expect([text(turn), said, noted(turn)]).toEqual(['Whole', ['Whole'], [['whole_for_stream', '(other)', 1]]]);
  });

  it('an error object where a stream was asked for is the provider’s error', () => {
    const fault = faultOf(() =>
      readPieces('anthropic', [Buffer.from('{"type":"error","error":{"type":"authentication_error"}}')]),
    );
    expect([fault.kind, fault.isRetryable, fault.errorName]).toEqual(['provider_error', false, 'authentication_error']);
  });

  it('Gemini’s stream as a list of pieces', () => {
    const pieces = [
      { candidates: [{ content: { parts: [{ text: 'A' }] } }] },
      { candidates: [{ content: { parts: [{ text: 'B' }] }, finishReason: 'STOP' }] },
    ];
    expect(text(readPieces('gemini', [Buffer.from(JSON.stringify(pieces))]))).toBe('AB');
  });

  it('counts of tokens that are none', () => {
    const usage = { prompt_tokens: 1.5, completion_tokens: -5, prompt_tokens_details: { cached_tokens: '7' } };
    const turn = readPieces('openai-chat', [
      ...half['openai-chat'],
      ...end['openai-chat'].slice(0, 1),
      sse({ choices: [], usage }),
    ]);
    expect(turn.usage).toEqual({
      inputTokens: 0,
      outputTokens: 0,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
    });
    expect(noted(turn)).toEqual([
      ['bad_usage', 'prompt_tokens', 1],
      ['bad_usage', 'completion_tokens', 1],
      ['bad_usage', 'cached_tokens', 1],
    ]);
  });

  it.each([
    [
      "Malformed function call: print(default_api.core__find(name='a'))",
      'core__find',
      "print(default_api.core__find(name='a'))",
    ],
    ['Malformed function call: core__find(name="a")', 'core__find', 'core__find(name="a")'],
    ['', 'unknown', 'MALFORMED_FUNCTION_CALL'],
  ])('a call that Gemini could not read (%j), as a call that is no JSON', (finishMessage, name, args) => {
    const turn = readPieces('gemini', [
      sse({ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage }] }),
    ]);
    expect([turn.finish, turn.parts]).toEqual(['calls', [{ type: 'call', toolCallId: '', name, args }]]);
    expect(noted(turn)).toEqual([['malformed_call', 'MALFORMED_FUNCTION_CALL', 1]]);
    expect(() => JSON.parse(args)).toThrow(SyntaxError);
  });

  it('a prompt that Gemini blocked ends as filtered', () => {
    expect(readPieces('gemini', [sse({ promptFeedback: { blockReason: 'SAFETY' } })]).finish).toBe('filtered');
  });

  it('blocks that are not known are kept as they came, and their deltas are not read', () => {
    const block = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    const turn = readPieces('anthropic', [
      sse({ type: 'content_block_start', index: 0, content_block: block }),
      sse({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"q":1}' } }),
      ...end.anthropic,
    ]);
    expect(turn.parts).toEqual([
      { type: 'other', wire: 'anthropic', kind: 'server_tool_use', raw: JSON.stringify(block) },
    ]);
    expect(noted(turn)).toEqual([['unknown_block', 'server_tool_use', 1]]);
  });

  it('a hostile number of unknown names is counted in bounded room', () => {
    const events = Array.from({ length: 5_000 }, (_, n) => sse({ type: `event-${String(n)}` }));
    const turn = readPieces('anthropic', [...half.anthropic, Buffer.concat(events), ...end.anthropic]);
    expect(turn.notes.length).toBeLessThanOrEqual(101);
    expect(turn.notes.reduce((sum, { count }) => sum + count, 0)).toBe(5_000);
  });
});

describe('Amazon’s event stream', () => {
  it('with a wrong checksum or a wrong length is damaged, and asked for again', () => {
    const [message] = half.bedrock;
    const bytes = Buffer.from(message ?? []);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    for (const piece of [bytes, Buffer.from([0, 0, 0, 1, 0, 0, 0, 0]), Buffer.from([0x7f, 0xff, 0xff, 0xff])]) {
      const fault = faultOf(() => readPieces('bedrock', [piece]));
      expect([fault.kind, fault.isRetryable]).toEqual(['damaged', true]);
    }
  });
});

it('an error’s sentence is what the provider says, in whatever form', () => {
  expect(errorSentence('Too many requests.')).toBe('Too many requests.');
  expect(errorSentence({ message: ' ', detail: 'No such model.' })).toBe('No such model.');
  expect([errorSentence(null), errorSentence(7), errorSentence({ message: { text: 'x' } })]).toEqual(['', '', '']);
});
