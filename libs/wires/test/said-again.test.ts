import { describe, expect, it } from '@jest/globals';
import { type DecodedTurn, decodeStream, decodeTurn, type WireName } from '@sluice/wires';
import { awsMessage } from './streams.js';

const sse = (data: unknown) => Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
const aws = (type: string, data: unknown) => awsMessage(type, JSON.stringify(data));

/** The turn, and the text that a listener heard meanwhile. */
function read(wire: WireName, events: readonly Buffer[]): { readonly turn: DecodedTurn; readonly heard: string } {
  const pieces: string[] = [];
  const decoder = decodeStream(wire, { onText: (piece) => pieces.push(piece) });
  for (const event of events) decoder.push(event);
  return { turn: decoder.end(), heard: pieces.join('') };
}

/** What a turn says: its text, and the name and arguments of each call. */
function saysOf({ parts }: DecodedTurn): { readonly text: string; readonly calls: readonly (readonly string[])[] } {
  return {
    text: parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''),
    calls: parts.flatMap((part) => (part.type === 'call' ? [[part.name, part.args]] : [])),
  };
}

const args = '{"n":1}';
const n1 = { n: 1 };

// Responses
const item = { type: 'function_call', id: 'fc_1', call_id: 'x', name: 'a' };
const message = { type: 'message', id: 'msg_1', role: 'assistant' };
const withText = (text: string) => ({ ...message, content: [{ type: 'output_text', text, annotations: [] }] });
const added = (of: object, output_index = 0) => sse({ type: 'response.output_item.added', output_index, item: of });
const done = (of: object, output_index = 0) => sse({ type: 'response.output_item.done', output_index, item: of });
const delta = (written: string, at: object = { output_index: 0 }) =>
  sse({ type: 'response.function_call_arguments.delta', ...at, delta: written });
const argsDone = (whole: string) =>
  sse({ type: 'response.function_call_arguments.done', output_index: 0, arguments: whole });
const says = (piece: string, at: object = { output_index: 0 }) =>
  sse({ type: 'response.output_text.delta', content_index: 0, ...at, delta: piece });
const textDone = (text: string) => sse({ type: 'response.output_text.done', output_index: 0, content_index: 0, text });
const completed = (output: readonly object[] = [], rest: object = { status: 'completed' }) =>
  sse({ type: 'response.completed', response: { id: 'r', model: 'm', output, ...rest } });

// Messages
const start = (content_block: object) => sse({ type: 'content_block_start', index: 0, content_block });
const input = (partial_json: string) =>
  sse({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json } });
const more = (text: string) => sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
const stop = sse({ type: 'content_block_stop', index: 0 });
const ends = (stop_reason: string) =>
  Buffer.concat([sse({ type: 'message_delta', delta: { stop_reason } }), sse({ type: 'message_stop' })]);
const use = { type: 'tool_use', id: 'x', name: 'a' };

// Converse
const block = (of: object) => aws('contentBlockStart', { contentBlockIndex: 0, start: of });
const blockDelta = (of: object) => aws('contentBlockDelta', { contentBlockIndex: 0, delta: of });
const blockStop = aws('contentBlockStop', { contentBlockIndex: 0 });
const messageStop = (stopReason: string) => aws('messageStop', { stopReason });
const toolUse = { toolUseId: 'x', name: 'a' };

// Chat Completions and Gemini
const chat = (choice: object) => sse({ choices: [{ index: 0, ...choice }] });
const chatCall = (of: object, rest: object = {}) => ({ tool_calls: [{ index: 0, ...rest, function: of }] });
const whole = chatCall({ name: 'a', arguments: args }, { id: 'x' });
const gemini = (functionCall: object, finishReason?: string) =>
  sse({ candidates: [{ content: { parts: [{ functionCall }] }, finishReason }] });
const partialArgs = [{ jsonPath: '$.n', numberValue: 1 }];

/** Where servers put arguments, or say them again. Each stream is one call of `a` with `{"n":1}`. */
const calls: Readonly<Record<string, Readonly<Record<string, readonly Buffer[]>>>> = {
  'openai-responses': {
    'deltas, and empty ones behind': [
      ...[added(item), delta(args), argsDone(''), done({ ...item, arguments: '' }), completed()],
    ],
    '`.done`, and an empty item last': [added(item), argsDone(args), done({ ...item, arguments: '' }), completed()],
    '`.done`, and an item of `{}` last': [added(item), argsDone(args), done({ ...item, arguments: '{}' }), completed()],
    '`.done`, and an empty call in the end': [added(item), argsDone(args), completed([{ ...item, arguments: '{}' }])],
    'the item that is done': [done({ ...item, arguments: args }), completed()],
    '`response.completed`': [completed([{ ...item, arguments: args }])],
    '`response.completed`, behind an empty item': [
      ...[added(item), done({ ...item, arguments: '' }), completed([{ ...item, arguments: args }])],
    ],
    'all of them, with another id in the end': [
      ...[added(item), delta(args), argsDone(args), done({ ...item, arguments: args })],
      completed([{ ...item, id: 'fc_other', arguments: args }]),
    ],
    'all of them, without the reasoning in the end': [
      ...[added({ type: 'reasoning', id: 'rs' }), added(item, 1), delta(args, { output_index: 1 })],
      ...[done({ ...item, arguments: args }, 1), completed([{ ...item, arguments: args }])],
    ],
    'deltas by the id of the item': [
      sse({ type: 'response.output_item.added', item }),
      ...[delta(args, { item_id: 'fc_1' }), completed()],
    ],
    'deltas of an item that was not announced': [delta(args), done(item), completed()],
  },
  anthropic: {
    'the start of the block': [start({ ...use, input: n1 }), stop, ends('tool_use')],
    'the start of the block, and deltas': [
      ...[start({ ...use, input: n1 }), input('{"n":'), input('1}'), stop, ends('tool_use')],
    ],
    'the start of the block, and an empty delta': [start({ ...use, input: n1 }), input(''), stop, ends('tool_use')],
    'deltas that begin with `{}`': [start({ ...use, input: {} }), input('{}'), input(args), stop, ends('tool_use')],
  },
  bedrock: {
    'the start of the block': [block({ toolUse: { ...toolUse, input: n1 } }), blockStop, messageStop('tool_use')],
    'the start of the block, and deltas': [
      block({ toolUse: { ...toolUse, input: n1 } }),
      ...[blockDelta({ toolUse: { input: args } }), messageStop('tool_use')],
    ],
    'an object in a delta': [block({ toolUse }), blockDelta({ toolUse: { input: n1 } }), messageStop('tool_use')],
  },
  'openai-chat': {
    'deltas, and all of them in the last one again': [
      chat({ delta: whole }),
      chat({ delta: chatCall({ arguments: args }), finish_reason: 'tool_calls' }),
    ],
    '`{}` first, and then deltas': [
      chat({ delta: chatCall({ name: 'a', arguments: '{}' }, { id: 'x' }) }),
      chat({ delta: chatCall({ arguments: args }) }),
      chat({ delta: {}, finish_reason: 'tool_calls' }),
    ],
    'deltas, and a whole message last': [chat({ delta: whole }), chat({ message: whole, finish_reason: 'tool_calls' })],
    'a whole message': [chat({ delta: {}, message: whole, finish_reason: 'tool_calls' })],
    'both forms of a call': [
      chat({ delta: { ...whole, function_call: { name: 'a', arguments: args } } }),
      chat({ delta: {}, finish_reason: 'tool_calls' }),
    ],
  },
  gemini: {
    'a call that goes on with all of them': [gemini({ name: 'a', willContinue: true }), gemini({ args: n1 }, 'STOP')],
    'a call that is named again': [
      gemini({ name: 'a', willContinue: true, partialArgs }),
      gemini({ name: 'a' }, 'STOP'),
    ],
    'pieces, and all of them in the end': [
      gemini({ name: 'a', willContinue: true, partialArgs }),
      gemini({ args: n1 }, 'STOP'),
    ],
  },
};

const answer = 'Hello there.';

/** Where servers put a text, or say it again. */
const texts: Readonly<Record<string, Readonly<Record<string, readonly Buffer[]>>>> = {
  'openai-responses': {
    'deltas, and all of it again everywhere': [
      ...[added(message), says('Hello '), says('there.'), textDone(answer)],
      ...[done(withText(answer)), completed([withText(answer)])],
    ],
    '`.done`': [added(message), textDone(answer), completed()],
    'the item that is done': [done(withText(answer)), completed()],
    '`response.completed`': [completed([withText(answer)])],
    '`response.completed` without a status': [completed([withText(answer)], {})],
    'the rest in `response.completed`': [
      ...[added(message), says('Hello '), completed([{ ...withText(answer), id: 'msg_other' }])],
    ],
    'deltas of an item that was not announced': [says('Hello '), says('there.'), completed()],
    'deltas by the id of the item': [
      sse({ type: 'response.output_item.added', item: message }),
      ...[says('Hello ', { item_id: 'msg_1' }), says('there.', { item_id: 'msg_1' }), completed()],
    ],
  },
  anthropic: {
    'the start of the block': [start({ type: 'text', text: answer }), stop, ends('end_turn')],
    'the start of the block, and its rest': [
      ...[start({ type: 'text', text: 'Hello ' }), more('there.'), stop, ends('end_turn')],
    ],
    'the start of the block, and all of it again': [
      ...[start({ type: 'text', text: answer }), more('Hello '), more('there.'), stop, ends('end_turn')],
    ],
    'the start of a block that never stops': [start({ type: 'text', text: answer }), ends('end_turn')],
  },
  bedrock: {
    'the start of the block': [block({ text: 'Hello ' }), blockDelta({ text: 'there.' }), messageStop('end_turn')],
  },
  'openai-chat': {
    'deltas, and a whole message last': [
      chat({ delta: { content: 'Hello ' } }),
      chat({ delta: { content: 'there.' } }),
      chat({ message: { content: answer }, finish_reason: 'stop' }),
    ],
    'a whole message': [chat({ delta: {}, message: { content: answer }, finish_reason: 'stop' })],
    'an empty reason with each piece': [
      chat({ delta: { content: 'Hello ' }, finish_reason: '' }),
      chat({ delta: { content: 'there.' }, finish_reason: '' }),
      chat({ delta: {}, finish_reason: 'stop' }),
    ],
  },
};

const rowsOf = (table: typeof calls) =>
  Object.entries(table).flatMap(([wire, rows]) =>
    Object.entries(rows).map(([where, events]) => [where, wire as WireName, events] as const),
  );

describe('arguments are those that came, wherever they stand', () => {
  it.each(rowsOf(calls))('in %s (%s)', (_, wire, events) => {
    const { turn } = read(wire, events);
    expect([saysOf(turn), turn.finish]).toEqual([{ text: '', calls: [['a', args]] }, 'calls']);
  });
});

describe('a text is said once, wherever it stands, and heard as it is kept', () => {
  it.each(rowsOf(texts))('in %s (%s)', (_, wire, events) => {
    const { turn, heard } = read(wire, events);
    expect([saysOf(turn), heard, turn.finish]).toEqual([{ text: answer, calls: [] }, answer, 'stop']);
  });
});

it('a call beside one that Gemini could not read is none that it stands by', () => {
  const { turn } = read('gemini', [gemini({ name: 'a', args: n1 }, 'MALFORMED_FUNCTION_CALL')]);
  expect(turn.finish).toBe('error');
});

it('a stop behind an end that was none makes no whole turn of it', () => {
  const { turn } = read('openai-chat', [
    chat({ delta: { content: 'Half' }, finish_reason: 'content_filter' }),
    chat({ delta: {}, finish_reason: 'stop' }),
  ]);
  expect([turn.finish, turn.finishAs]).toEqual(['filtered', 'content_filter']);
});

it('two calls of `response.completed` are two, and a reasoning keeps its cipher', () => {
  const reasoning = { type: 'reasoning', id: 'rs' };
  const second = { ...item, id: 'fc_2', call_id: 'y', arguments: '{"n":2}' };
  const { turn } = read('openai-responses', [
    ...[added(reasoning), done({ ...reasoning, encrypted_content: 'secret' }), added(item, 1)],
    ...[delta(args, { output_index: 1 }), completed([reasoning, { ...item, arguments: args }, second])],
  ]);
  const both = [args, '{"n":2}'].map((one) => ['a', one]);
  expect(saysOf(turn).calls).toEqual(both);
  expect(turn.parts[0]).toMatchObject({ echo: { fields: { id: 'rs', encrypted_content: 'secret' } } });
});

it('items of Responses without numbers and ids follow each other', () => {
  const unnamed = (type: string, of: object) => sse({ type: `response.${type}`, ...of });
  const [first, second] = ['x', 'y'].map((call_id) => ({ type: 'function_call', call_id, name: 'a' }));
  const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: answer }] };
  const { turn, heard } = read('openai-responses', [
    unnamed('output_item.added', { item: { ...message, content: [] } }),
    ...[says('Hello ', {}), says('there.', {}), unnamed('output_item.done', { item: message })],
    ...[unnamed('output_item.added', { item: first }), delta(args, {})],
    ...[unnamed('output_item.done', { item: { ...first, arguments: args } })],
    ...[unnamed('output_item.added', { item: second }), delta('{"n":2}', {})],
    ...[unnamed('output_item.done', { item: { ...second, arguments: '{"n":2}' } }), completed()],
  ]);
  const both = [args, '{"n":2}'].map((one) => ['a', one]);
  expect([saysOf(turn), heard]).toEqual([{ text: answer, calls: both }, answer]);
});

it('calls of Responses without numbers and ids that are open at once are distinguished by their call ids', () => {
  const calls = ['x', 'y'].map((call_id, at) => ({
    type: 'function_call',
    call_id,
    name: 'a',
    arguments: `{"n":${at}}`,
  }));
  const events = ['added', 'done'].flatMap((state) =>
    calls.map((call) =>
      sse({ type: `response.output_item.${state}`, item: state === 'done' ? call : { ...call, arguments: '' } }),
    ),
  );
  const { turn } = read('openai-responses', [...events, completed()]);
  expect(saysOf(turn).calls).toEqual(calls.map((call) => [call.name, call.arguments]));
});

it('a whole answer with both forms of a call has it once', () => {
  const said = { content: 'So.', ...whole, function_call: { name: 'a', arguments: args } };
  const body = JSON.stringify({ choices: [{ message: said, finish_reason: 'tool_calls' }] });
  expect(saysOf(decodeTurn('openai-chat', body))).toEqual({ text: 'So.', calls: [['a', args]] });
});
