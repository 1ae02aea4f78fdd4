import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Fault, type Model, type ModelTool, type ModelTurn } from '@sluice/core';
import { createModel } from '@sluice/model';
import { requestOf, stepOf } from './requests.js';
import { anthropic } from './wires/anthropic.js';
import { bedrock } from './wires/bedrock.js';
import { bedrockAnthropic } from './wires/bedrock-anthropic.js';
import { send, startEndpoint, type Endpoint } from './wires/endpoint.js';
import { google } from './wires/google.js';
import { openai } from './wires/openai.js';
import { openaiResponses } from './wires/openai-responses.js';
import type { Script, Wire } from './wires/wire.js';

const tool: ModelTool = { id: 'core__find', description: 'Finds', inputSchema: { type: 'object' } };
const request = requestOf({ tools: [tool] });
const { signal } = new AbortController();
const call = { id: 'one', tool: 'core__find', pieces: ['{"name":"a"}'] };
const said = ['Half an ', 'ans'];

/**
 * What a turn comes to by the provider’s word for its end: a whole turn, or one that is cut, filtered, ended
 * otherwise or failed.
 */
type End = 'whole' | 'length' | 'filtered' | 'other' | 'failed';

const ofMessages: Readonly<Record<string, End>> = {
  end_turn: 'whole',
  stop_sequence: 'whole',
  tool_use: 'whole',
  stop: 'whole',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'filtered',
  error: 'failed',
  weird: 'other',
};

const ends: Readonly<Record<string, readonly [Wire, Readonly<Record<string, End>>]>> = {
  'openai-chat': [
    openai,
    {
      ...{ stop: 'whole', tool_calls: 'whole', function_call: 'whole', end: 'whole', eos: 'whole', eos_token: 'whole' },
      ...{ end_turn: 'whole', tool_use: 'whole', STOP: 'whole', COMPLETE: 'whole', '': 'whole' },
      ...{ length: 'length', max_tokens: 'length', model_length: 'length' },
      ...{ content_filter: 'filtered', refusal: 'filtered', SAFETY: 'filtered', sensitive: 'filtered' },
      ...{ error: 'failed', cancelled: 'failed', abort: 'failed', insufficient_system_resource: 'failed' },
      ...{ weird: 'other', pause_turn: 'other', ...({ constructor: 'other' } as Readonly<Record<string, End>>) },
    },
  ],
  'openai-responses': [
    openaiResponses,
    {
      ...{ completed: 'whole', max_output_tokens: 'length', content_filter: 'filtered', cancelled: 'failed' },
      ...{ incomplete: 'other', stop: 'other', weird: 'other' },
    },
  ],
  anthropic: [anthropic, ofMessages],
  gemini: [
    google,
    {
      ...{ STOP: 'whole', MAX_TOKENS: 'length', SAFETY: 'filtered', RECITATION: 'filtered', SPII: 'filtered' },
      ...{ BLOCKLIST: 'filtered', PROHIBITED_CONTENT: 'filtered', LANGUAGE: 'filtered', IMAGE_SAFETY: 'filtered' },
      ...{ UNEXPECTED_TOOL_CALL: 'failed', MALFORMED_RESPONSE: 'failed', TOO_MANY_TOOL_CALLS: 'failed' },
      ...{ OTHER: 'other', FINISH_REASON_UNSPECIFIED: 'other', WEIRD: 'other' },
    },
  ],
  bedrock: [
    bedrock,
    {
      ...{ end_turn: 'whole', stop_sequence: 'whole', tool_use: 'whole', max_tokens: 'length' },
      ...{ model_context_window_exceeded: 'length', guardrail_intervened: 'filtered', content_filtered: 'filtered' },
      ...{ malformed_model_output: 'failed', malformed_tool_use: 'failed', weird: 'other', pause_turn: 'other' },
    },
  ],
  'bedrock-anthropic': [bedrockAnthropic, ofMessages],
};

let endpoint: Endpoint;
beforeAll(async () => void (endpoint = await startEndpoint()));
afterAll(() => endpoint.close());

const modelOf = (wire: Wire): Promise<Model> =>
  createModel(
    { baseUrl: endpoint.url, apiKeyEnv: null, region: null, maxOutputTokens: 256, ...wire.settings },
    { secret: (variable) => (variable === 'AWS_SESSION_TOKEN' ? undefined : 'key') },
  );

/** Answers the requests with these turns, one after another. */
function answer(wire: Wire, ...scripts: readonly Script[]): void {
  const left = [...scripts];
  endpoint.received.length = 0;
  endpoint.respond = async (response) => {
    response.writeHead(200, { 'content-type': wire.contentType });
    await send(response, wire.encode(left.shift() ?? {}));
    response.end();
  };
}

async function faultOf(turn: Promise<ModelTurn>): Promise<Fault> {
  const error: unknown = await turn.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Fault) return error;
  throw new Error('A fault was expected.', { cause: error });
}

const table = Object.entries(ends).flatMap(([name, [wire, words]]) =>
  Object.entries(words).map(([word, end]) => [name, word, end, wire] as const),
);

describe.each(table)('a turn of %s that ends with “%s” is %s', (_, word, end, wire) => {
  it('as text alone: an answer, one that says why it is not whole, or none', async () => {
    const model = await modelOf(wire);
    answer(wire, { text: said, finishAs: word });
    const turn = model.turn(request, { signal });
    if (end === 'failed') {
      const fault = await faultOf(turn);
      expect(fault).toMatchObject({ code: 'model_unreachable', retryable: true });
      expect(fault.message).toContain(`“${word}”`);
      return;
    }
    const { answer: text, incomplete } = await turn;
    expect(text).toBe('Half an ans');
    expect(incomplete).toEqual(end === 'whole' ? undefined : { reason: end, finishReason: word });
  });

  it('with calls: they are run only of a whole turn, or of one at its limit', async () => {
    const model = await modelOf(wire);
    answer(wire, { text: said, calls: [call], finish: 'calls', finishAs: word });
    const turn = model.turn(request, { signal });
    if (end === 'whole' || end === 'length') {
      expect((await turn).calls).toMatchObject([{ tool: 'core__find', arguments: '{"name":"a"}' }]);
      return;
    }
    const fault = await faultOf(turn);
    const [code, retryable] = end === 'failed' ? ['model_unreachable', true] : ['model_refused', false];
    expect(fault).toMatchObject({ code, retryable });
    expect(fault.message).toContain(`“${word}”`);
  });

  it('without a word: nothing, with the reason', async () => {
    const model = await modelOf(wire);
    answer(wire, ...Array.from({ length: 3 }, () => ({ finishAs: word })));
    const fault = await faultOf(model.turn(request, { signal }));
    if (end === 'length') expect(fault.message).toContain('raise model.max_output_tokens');
    else if (end !== 'whole') expect(fault.message).toContain(`“${word}”`);
    // Without a word and a reason the stream was cut.
    expect(fault.code).toBe(end === 'failed' || word === '' ? 'model_unreachable' : 'model_refused');
  });
});

describe.each<[string, Wire]>([
  ['anthropic', anthropic],
  ['bedrock-anthropic', bedrockAnthropic],
])('a turn of %s that its provider pauses', (_, wire) => {
  it('goes on with what was said so far, and counts the tokens of all requests', async () => {
    const model = await modelOf(wire);
    const paused = (text: string): Script => ({ text: [text], finishAs: 'pause_turn' });
    answer(wire, paused('One, '), paused('two, '), { text: ['three.'] });
    const pieces: string[] = [];
    const turn = await model.turn(request, { signal, onText: (piece) => pieces.push(piece) });
    expect(turn).toEqual({ thought: '', calls: [], answer: 'One, two, three.', inputTokens: 21, outputTokens: 15 });
    expect(pieces).toEqual(['One, ', 'two, ', 'three.']);
    const sent = endpoint.received.map(({ body }) => (body['messages'] as readonly unknown[]).slice(1));
    const assistant = (...texts: readonly string[]) => [
      expect.objectContaining({ role: 'assistant', content: texts.map((text) => ({ type: 'text', text })) }),
    ];
    expect(sent).toEqual([[], assistant('One, '), assistant('One, ', 'two, ')]);
  });

  it('again and again is half an answer in the end', async () => {
    const model = await modelOf(wire);
    answer(wire, ...Array.from({ length: 40 }, () => ({ text: ['x'], finishAs: 'pause_turn' })));
    const { answer: text, incomplete } = await model.turn(request, { signal });
    expect([text, incomplete]).toEqual(['x'.repeat(17), { reason: 'other', finishReason: 'pause_turn' }]);
    expect(endpoint.received).toHaveLength(17);
  });

  it('within calls runs none of them', async () => {
    const model = await modelOf(wire);
    answer(wire, { calls: [call], finishAs: 'pause_turn' });
    const fault = await faultOf(model.turn(request, { signal }));
    expect(fault).toMatchObject({ code: 'model_refused', retryable: false });
    expect(fault.message).toContain('“pause_turn”');
    expect(endpoint.received).toHaveLength(1);
  });
});

describe('a turn without a text or a call', () => {
  it.each<[string, Wire, Script]>([
    ['an empty stop of Gemini', google, { finishAs: 'STOP' }],
    ['a call that Gemini did not expect', google, { finishAs: 'UNEXPECTED_TOOL_CALL' }],
    ['thoughts alone', google, { thinking: ['Hm.'], finishAs: 'STOP' }],
    ['an empty end of Anthropic', anthropic, { finishAs: 'end_turn' }],
  ])('is asked for again at once: %s', async (_, wire, empty) => {
    const model = await modelOf(wire);
    answer(wire, empty, { text: ['There.'] });
    const turn = await model.turn(request, { signal });
    expect(turn).toMatchObject({ answer: 'There.', inputTokens: 14, outputTokens: 10 });
    const [first, second] = endpoint.received.map(({ body }) => body);
    expect(second).toEqual(first);
  });

  it('is refused when it comes a third time', async () => {
    const model = await modelOf(google);
    answer(google, {}, {}, {}, { text: ['Too late.'] });
    expect(await faultOf(model.turn(request, { signal }))).toMatchObject({ code: 'model_refused' });
    expect(endpoint.received).toHaveLength(3);
  });
});

describe('a turn of several messages of the Responses API', () => {
  const message = (id: string, phase: string, text: string, output_index: number): string => {
    const item = { id, type: 'message', role: 'assistant', phase };
    const event = (type: string, rest: object) => `data: ${JSON.stringify({ type, output_index, ...rest })}\n\n`;
    return [
      event('response.output_item.added', { item: { ...item, content: [] } }),
      event('response.output_text.delta', { content_index: 0, delta: text }),
      event('response.output_item.done', { item: { ...item, content: [{ type: 'output_text', text }] } }),
    ].join('');
  };
  const completed = `data: ${JSON.stringify({ type: 'response.completed', response: { status: 'completed', output: [] } })}\n\n`;
  const made = `data: ${JSON.stringify({ type: 'response.output_item.done', output_index: 2, item: { id: 'fc_1', type: 'function_call', call_id: 'one', name: 'core__find', arguments: '{}' } })}\n\n`;
  const respond = (text: string): void => {
    endpoint.respond = (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
  };

  it('answers with the final one, and streams it alone', async () => {
    const model = await modelOf(openaiResponses);
    respond(message('m1', 'commentary', 'I look.', 0) + message('m2', 'final_answer', 'Bern.', 1) + completed);
    const pieces: string[] = [];
    const turn = await model.turn(request, { signal, onText: (piece) => pieces.push(piece) });
    expect([turn.answer, pieces]).toEqual(['Bern.', ['Bern.']]);
  });

  it('sends them back apart', async () => {
    const model = await modelOf(openaiResponses);
    respond(
      message('m1', 'commentary', 'I look.', 0) + message('m2', 'commentary', 'And there.', 1) + made + completed,
    );
    const turn = await model.turn(request, { signal });
    expect(turn.thought).toBe('I look.\n\nAnd there.');
    const [first] = turn.calls;
    const step = stepOf({
      toolId: 'core__find',
      thought: turn.thought,
      toolCallId: 'one',
      iteration: 1,
      providerData: first?.providerData ?? null,
    });
    respond(message('m3', 'final_answer', 'Done.', 0) + completed);
    await model.turn({ ...request, history: [step] }, { signal });
    const input = endpoint.received.at(-1)?.body['input'] as readonly object[];
    expect(input.slice(1, 3)).toMatchObject([
      { id: 'm1', phase: 'commentary', content: [{ text: 'I look.' }] },
      { id: 'm2', phase: 'commentary', content: [{ text: 'And there.' }] },
    ]);
  });
});

it('gives Gemini its parallel calls and a trailing signature back as they came', async () => {
  const model = await modelOf(google);
  const parts = [
    { text: 'I look.' },
    { functionCall: { id: 'one', name: 'core__find', args: {} }, thoughtSignature: 'first' },
    { functionCall: { id: 'two', name: 'core__find', args: { n: 1 } } },
    { text: '', thoughtSignature: 'last' },
  ];
  endpoint.respond = (response) =>
    void response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(
        `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] })}\n\n`,
      );
  const { calls, thought } = await model.turn(request, { signal });
  const history = calls.map((each, index) =>
    stepOf({
      ...{ toolId: each.tool, thought, arguments: each.arguments, toolCallId: each.toolCallId, iteration: 1, index },
      providerData: each.providerData ?? null,
    }),
  );
  answer(google, { text: ['Done.'] });
  await model.turn({ ...request, history }, { signal });
  const contents = endpoint.received.at(-1)?.body['contents'] as readonly { readonly parts: unknown }[];
  expect(contents[1]?.parts).toEqual(parts);
});

it('quotes a word of the provider on one line, cut, and without what looks like a secret', async () => {
  const model = await modelOf(openai);
  answer(openai, { text: said, finishAs: `odd\nBearer abc.def ${'x'.repeat(100)}` });
  const { incomplete } = await model.turn(request, { signal });
  expect(incomplete?.finishReason).toMatch(/^odd \(hidden\) x+…?$/);
  expect(incomplete?.finishReason.length).toBeLessThanOrEqual(64);
});
