import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  type DecodedTurn,
  encodeStream,
  encodeTurn,
  largestTurn,
  noUsage,
  type TurnPart,
  WireFault,
  type WireName,
  wireNames,
} from '@sluice/wires';
import { awsMessage, readPieces } from './streams.js';

/** The table of docs/models.md: what comes, on which wires, and the outcome. */
const page = readFileSync(new URL('../../../docs/models.md', import.meta.url), 'utf8');
const section = page.split('### Streams that differ from the documentation')[1]?.split('\n## ')[0] ?? '';
const rows = [...section.matchAll(/^\| (.+?) \| (.+?) \| (\w+) \|$/gm)]
  .map(([, what = '', where = '', outcome = '']) => ({ what, wires: wiresOf(where), outcome }))
  .filter(({ what }) => what !== 'what comes');

function wiresOf(where: string): readonly WireName[] {
  const isAmazon = (wire: WireName) => wire.startsWith('bedrock');
  if (where === 'all') return wireNames;
  if (where === 'server-sent events') return wireNames.filter((wire) => !isAmazon(wire));
  if (where === 'Amazon’s event stream') return wireNames.filter(isAmazon);
  return wireNames.filter((wire) => where.split(', ').includes(`\`${wire}\``));
}

const head = { id: 'i', model: 'm', createdAtMs: 0 };
const text: TurnPart = { type: 'text', text: 'Hello there.' };
const call = (toolCallId: string, args = '{"n":1}'): TurnPart => ({ type: 'call', toolCallId, name: 'a', args });

/** A stream as this library writes it. */
function stream(
  wire: WireName,
  parts: readonly TurnPart[],
  finish: 'stop' | 'calls' = 'stop',
  usage = noUsage,
): Buffer {
  const encoder = encodeStream(wire, head);
  return Buffer.concat([encoder.start(), ...parts.map((part) => encoder.part(part)), encoder.end(finish, usage)]);
}
function begun(wire: WireName): Buffer {
  const encoder = encodeStream(wire, head);
  return Buffer.concat([encoder.start(), encoder.part(text)]);
}
/** One event of JSON, in the wire’s own frame. */
function event(wire: WireName, data: object, name = 'newEvent'): Buffer {
  const json = JSON.stringify(data);
  if (wire === 'bedrock') return awsMessage(name, json);
  if (wire === 'bedrock-anthropic')
    return awsMessage('chunk', JSON.stringify({ bytes: Buffer.from(json).toString('base64') }));
  return Buffer.from(`data: ${json}\n\n`);
}
const rewritten = (wire: WireName, change: (written: string) => string) =>
  Buffer.from(change(stream(wire, [text]).toString()));
const whole = (wire: WireName) =>
  encodeTurn(wire, { id: 'i', model: 'm', parts: [text], finish: 'stop', usage: noUsage }, 0).body;
const chat = (...deltas: readonly object[]) =>
  Buffer.concat([
    ...deltas.map((one) => event('openai-chat', { choices: [{ index: 0, delta: { tool_calls: [one] } }] })),
    event('openai-chat', { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }),
  ]);
const gemini = (part: object, rest: object = {}) =>
  event('gemini', { candidates: [{ content: { parts: [part] }, finishReason: 'STOP', ...rest }] });

const wrongTypes: Readonly<Record<WireName, object>> = {
  'openai-chat': { choices: [{ delta: { content: 7 } }] },
  'openai-responses': { type: 'response.output_text.delta', output_index: 0, delta: 7 },
  anthropic: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 7 } },
  gemini: { candidates: [{ content: { parts: [{ text: 7 }] } }] },
  bedrock: { contentBlockIndex: 0, delta: { text: 7 } },
  'bedrock-anthropic': { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 7 } },
};
const errors: Readonly<Record<WireName, object>> = {
  'openai-chat': { error: { message: 'No.', type: 'server_error' } },
  'openai-responses': { type: 'error', code: 'server_error', message: 'No.' },
  anthropic: { type: 'error', error: { type: 'overloaded_error', message: 'No.' } },
  gemini: { error: { code: 503, message: 'No.', status: 'UNAVAILABLE' } },
  bedrock: { message: 'No.' },
  'bedrock-anthropic': { type: 'error', error: { type: 'overloaded_error', message: 'No.' } },
};

/** Chat Completions and Gemini name no kind of event. */
const unknown: Readonly<Record<WireName, object>> = {
  'openai-chat': { object: 'new.event' },
  'openai-responses': { type: 'response.new_event' },
  anthropic: { type: 'new_event' },
  gemini: { responseId: 'i' },
  bedrock: {},
  'bedrock-anthropic': { type: 'new_event' },
};

const cases: Readonly<Record<string, (wire: WireName) => Buffer>> = {
  'line ends of CRLF or CR': (wire) =>
    rewritten(wire, (written) => written.replace('\n\n', '\r\r').replaceAll('\n', '\r\n')),
  'comments, and fields of an event that are not known': (wire) =>
    rewritten(wire, (written) => written.replaceAll('data: ', ': ping\nx-trace: 1\ndata: ')),
  'a byte order mark': (wire) => rewritten(wire, (written) => `\uFEFF${written}`),
  'no space behind `data:`': (wire) => rewritten(wire, (written) => written.replaceAll('data: ', 'data:')),
  'no blank line behind the last event': (wire) => rewritten(wire, (written) => written.trimEnd()),
  'a byte order mark before a whole answer': (wire) => Buffer.from(`\uFEFF${whole(wire)}`),
  'a whole answer': (wire) => Buffer.from(whole(wire)),
  'an HTML page': () => Buffer.from('<!doctype html><html></html>'),
  'JSON of something else': () => Buffer.from('{"ok":true}'),
  'an event that is not JSON': () => Buffer.from('data: upstream timed out\n\n'),
  'a wrong checksum': (wire) => {
    const bytes = stream(wire, [text]);
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    return bytes;
  },
  'no end': begun,
  'nothing at all': () => Buffer.alloc(0),
  'an event that is not known': (wire) => Buffer.concat([event(wire, unknown[wire]), stream(wire, [text])]),
  'a text of the wrong type': (wire) =>
    Buffer.concat([begun(wire), event(wire, wrongTypes[wire], 'contentBlockDelta')]),
  'more than 4 MB': () => Buffer.alloc(largestTurn + 1, 'a'),
  'an error in the middle': (wire) =>
    wire === 'bedrock'
      ? Buffer.concat([begun(wire), awsMessage('throttlingException', '{"message":"No."}', 'exception')])
      : Buffer.concat([begun(wire), event(wire, errors[wire])]),
  '`[DONE]` without `finish_reason`': () => Buffer.concat([begun('openai-chat'), Buffer.from('data: [DONE]\n\n')]),
  'calls beside the end of an answer': (wire) => stream(wire, [call('x')], 'stop'),
  'an end of calls without calls': (wire) => stream(wire, [text], 'calls'),
  'a count of tokens of 1.5': (wire) => stream(wire, [text], 'stop', { ...noUsage, outputTokens: 1.5 }),
  'a call without arguments, which are `{}`': (wire) => stream(wire, [call('x', '')], 'calls'),
  'a call without an id': (wire) => stream(wire, [call('')], 'calls'),
  'two calls with one id': (wire) => stream(wire, [call('x'), call('x')], 'calls'),
  'index 0 for all calls': () =>
    chat(...['x', 'y'].map((id) => ({ index: 0, id, function: { name: 'a', arguments: '{"n":1}' } }))),
  'no index at all': () => chat(...['x', 'y'].map((id) => ({ id, function: { name: 'a', arguments: '{"n":1}' } }))),
  'arguments as an object': () => chat({ index: 0, id: 'x', function: { name: 'a', arguments: { n: 1 } } }),
  'arguments that are no JSON, as they are': (wire) => stream(wire, [call('x', '{"n": }')], 'calls'),
  'arguments in pieces (`partialArgs`)': () =>
    gemini({ functionCall: { name: 'a', partialArgs: [{ jsonPath: '$.n', numberValue: 1 }] } }),
  'a piece of arguments whose path is none': () =>
    gemini({ functionCall: { name: 'a', partialArgs: [{ jsonPath: 'n', numberValue: 1 }] } }),
  '`MALFORMED_FUNCTION_CALL`': () =>
    gemini(
      {},
      { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Malformed function call: print(default_api.a(n=))' },
    ),
};

function outcomeOf(wire: WireName, bytes: Buffer): { readonly outcome: string; readonly turn?: DecodedTurn } {
  try {
    const turn = readPieces(wire, [bytes]);
    return { outcome: turn.notes.map(({ kind }) => kind).join(', ') || 'read', turn };
  } catch (error) {
    if (error instanceof WireFault) return { outcome: error.kind };
    throw error;
  }
}

/** How many calls a row has, and the arguments of each. */
const argumentsOf: Readonly<Record<string, readonly string[]>> = {
  'calls beside the end of an answer': ['{"n":1}'],
  'a call without arguments, which are `{}`': ['{}'],
  'a call without an id': ['{"n":1}'],
  'two calls with one id': ['{"n":1}', '{"n":1}'],
  'index 0 for all calls': ['{"n":1}', '{"n":1}'],
  'no index at all': ['{"n":1}', '{"n":1}'],
  'arguments as an object': ['{"n":1}'],
  'arguments that are no JSON, as they are': ['{"n": }'],
  'arguments in pieces (`partialArgs`)': ['{"n":1}'],
  '`MALFORMED_FUNCTION_CALL`': ['print(default_api.a(n=))'],
};

it('docs/models.md has every difference that is tried here, and no other', () => {
  expect(rows.map(({ what }) => what)).toEqual(Object.keys(cases));
});

describe.each(rows)('$what', ({ what, wires, outcome }) => {
  it.each(wires)(`on %s is ${outcome}`, (wire) => {
    const bytes = cases[what]?.(wire) ?? Buffer.alloc(0);
    const found = outcomeOf(wire, bytes);
    expect(found.outcome).toBe(outcome);
    if (found.turn === undefined) return;
    const { parts } = found.turn;
    const args = parts.flatMap((part) => (part.type === 'call' ? [part.args] : []));
    expect(args).toEqual(argumentsOf[what] ?? []);
    if (args.length === 0) expect(parts).toMatchObject([{ type: 'text', text: 'Hello there.' }]);
  });
});
