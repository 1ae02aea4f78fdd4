import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Fault,
  halfWritten,
  type Model,
  type ModelRequest,
  type ModelSettings,
  type ModelTool,
  type ModelTurn,
} from '@sluice/core';
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

const key = 'sk-test-9f8e7d6c5b4a';
const tool: ModelTool = {
  id: 'core__find',
  description: 'Finds things',
  inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
};
const request = requestOf({ instructions: 'Be brief.', tools: [tool] });
const never = new AbortController().signal;

/** What an event says, also where it is a chunk in base64. */
function textOf(event: Buffer): string {
  const chunk = /"bytes":"([^"]*)"/.exec(event.toString('latin1'))?.[1];
  return (chunk === undefined ? event : Buffer.from(chunk, 'base64')).toString();
}

/** A turn but for what its provider wants back, which is that provider’s own. */
function withoutData(turn: ModelTurn): ModelTurn {
  return { ...turn, calls: turn.calls.map(({ providerData: _, ...call }) => call) };
}

/** Every provider behaves the same behind the port; only the bytes differ. */
describe.each<[string, Wire]>(
  Object.entries({ openai, openaiResponses, anthropic, google, bedrock, bedrockAnthropic }),
)('a model behind the %s wire', (name, wire) => {
  /** Google sends a call whole or not at all, so nothing says that one was cut off. */
  const cutOff = name === 'google' ? [] : [{ tool: 'core__find', arguments: halfWritten }];
  let endpoint: Endpoint;
  let model: Model;

  beforeEach(async () => {
    endpoint = await startEndpoint();
    const settings: ModelSettings = {
      baseUrl: endpoint.url,
      apiKeyEnv: null,
      region: null,
      maxOutputTokens: 256,
      ...wire.settings,
    };
    model = await createModel(settings, {
      secret: (variable) => (variable === 'AWS_SESSION_TOKEN' ? undefined : key),
    });
  });
  afterEach(() => endpoint.close());

  const say = (script: Script) => {
    endpoint.respond = async (response) => {
      response.writeHead(200, { 'content-type': wire.contentType });
      await send(response, wire.encode(script));
      response.end();
    };
  };
  const whole = wire.encode({ text: ['Half of ', 'it'] });
  const half = whole.slice(0, whole.findIndex((event) => textOf(event).includes('Half of ')) + 1);
  const turn = (given: ModelRequest = request) => model.turn(given, { signal: never });
  const faultOf = async (given: ModelRequest = request): Promise<Fault> => {
    const error: unknown = await turn(given).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof Fault)) throw new Error('A fault was expected.', { cause: error });
    return error;
  };

  it('is named provider/name', () => {
    expect(model.name).toBe(`${wire.settings.provider}/${wire.settings.name ?? ''}`);
  });

  it('gives text alone as the answer, piece by piece, with the tokens used', async () => {
    say({ text: ['Grüß ', 'Gott, ', 'world.'], inputTokens: 31, outputTokens: 12 });
    const said: string[] = [];
    expect(await model.turn(request, { signal: never, onText: (piece) => said.push(piece) })).toEqual({
      thought: '',
      calls: [],
      answer: 'Grüß Gott, world.',
      inputTokens: 31,
      outputTokens: 12,
    });
    expect(said).toEqual(['Grüß ', 'Gott, ', 'world.']);
  });

  it('gives text beside calls as the thought, and the calls in order with their own arguments (T-08a, T-15c, T-12c, K-04, S-11, S-13)', async () => {
    say({
      text: ['I look ', 'twice.'],
      calls: [
        { id: 'one', tool: 'core__find', pieces: ['{"na', 'me":"a"', '}'] },
        { id: 'two', tool: 'core__find', pieces: ['{"name":', '"b"}'] },
      ],
    });
    expect(withoutData(await turn())).toEqual({
      thought: 'I look twice.',
      calls: [
        { toolCallId: 'one', tool: 'core__find', arguments: '{"name":"a"}' },
        { toolCallId: 'two', tool: 'core__find', arguments: '{"name":"b"}' },
      ],
      answer: null,
      inputTokens: 7,
      outputTokens: 5,
    });
  });

  it('lets text go as it comes, and gives the turn with its calls when it has ended, not before (S-05, S-14)', async () => {
    const script = { text: ['I look.'], calls: [{ id: 'one', tool: 'core__find', pieces: ['{"name":"a"}'] }] };
    const events = wire.encode(script);
    const cut = events.findIndex((event) => textOf(event).includes('I look.')) + 1;
    let goOn = (): void => undefined;
    const heard = new Promise<void>((resolve) => (goOn = resolve));
    let rest = false;
    endpoint.respond = async (response) => {
      response.writeHead(200, { 'content-type': wire.contentType });
      await send(response, events.slice(0, cut));
      // The rest of the turn is sent only once its text has been heard.
      await heard;
      rest = true;
      await send(response, events.slice(cut));
      response.end();
    };
    const said: string[] = [];
    const onText = (piece: string): void => {
      expect(rest).toBe(false);
      said.push(piece);
      goOn();
    };
    const ended = await model.turn(request, { signal: never, onText });
    expect(said).toEqual(['I look.']);
    expect(rest).toBe(true);
    expect(withoutData(ended).calls).toEqual([{ toolCallId: 'one', tool: 'core__find', arguments: '{"name":"a"}' }]);
  });

  const call = { id: 'one', tool: 'core__find', pieces: ['{"name":"a"}'] };
  it.each<[string, Script, 'calls' | 'answer']>([
    ['calls that end as calls', { calls: [call], finish: 'calls' }, 'calls'],
    ['calls that end as an answer would', { text: ['So.'], calls: [call], finish: 'stop' }, 'calls'],
    ['text that ends as an answer', { text: ['So.'], finish: 'stop' }, 'answer'],
    ['text that ends as calls would', { text: ['So.'], finish: 'calls' }, 'answer'],
  ])(
    'has calls exactly if it has no answer, also where the wire contradicts itself: %s (S-12)',
    async (_, script, has) => {
      say(script);
      const given = await turn();
      expect(given.calls.length > 0).toBe(has === 'calls');
      expect(given.answer === null).toBe(has === 'calls');
    },
  );

  it('keeps what has no place in a turn beside it, as it came, and is otherwise the same turn (T-10e, T-10f, T-11c)', async () => {
    const plain = { text: ['So.'], calls: [call], inputTokens: 3, outputTokens: 4 };
    say(plain);
    const without = await turn();
    expect(without).not.toHaveProperty('raw');
    for (const thinking of [['marked ', 'thought'], ['{"name":"another"}']]) {
      say({ ...plain, thinking });
      const said: string[] = [];
      const { raw, ...rest } = await model.turn(request, { signal: never, onText: (piece) => said.push(piece) });
      expect(withoutData(rest)).toEqual(withoutData(without));
      expect(said).toEqual(['So.']);
      const payloads = JSON.stringify(raw?.map(({ payload }) => payload));
      for (const piece of thinking) expect(payloads).toContain(JSON.stringify(piece).slice(1, -1));
    }
  });

  it('X-15: replaces ids that are missing, repeated, used before or too long, the same way each time', async () => {
    say({
      calls: [
        { tool: 'core__find', pieces: ['{"name":"none"}'] },
        { id: 'x'.repeat(129), tool: 'core__find', pieces: ['{"name":"long"}'] },
        { id: 'past', tool: 'core__find', pieces: ['{"name":"used"}'] },
        { id: 'twin', tool: 'core__find', pieces: ['{"name":"first"}'] },
        { id: 'twin', tool: 'core__find', pieces: ['{"name":"second"}'] },
      ],
    });
    const given = {
      ...request,
      history: [stepOf({ toolId: 'core__find', toolCallId: 'past', arguments: '{"name":"p"}', observation: 'p' })],
    };
    const first = await turn(given);
    expect(first.calls.map((call) => call.toolCallId)).toEqual([
      'call-1-0',
      'call-1-1',
      'call-1-2',
      'twin',
      'call-1-4',
    ]);
    expect(await turn(given)).toEqual(first);
  });

  it('refuses an empty turn', async () => {
    say({});
    const fault = await faultOf();
    expect(fault).toMatchObject({ code: 'model_refused', retryable: false });
    expect(fault.message).toContain('gave an empty turn');
  });

  it('keeps a call that the token limit cut off without its arguments, and those before it whole', async () => {
    const complete = { id: 'one', tool: 'core__find', pieces: ['{"name":"a"}'] };
    say({ text: ['Two.'], calls: [complete, { id: 'two', tool: 'core__find', pieces: ['{"na'] }], finish: 'length' });
    expect((await turn()).calls).toMatchObject([{ tool: 'core__find', arguments: '{"name":"a"}' }, ...cutOff]);
  });

  it('runs none of the calls of a turn that the content filter stopped, and says so', async () => {
    say({ text: ['I look.'], calls: [call], finish: 'filtered' });
    const fault = await faultOf();
    expect(fault).toMatchObject({ code: 'model_refused', retryable: false });
    expect(fault.message).toContain('stopped by its content filter');
    expect(fault.message).toContain('none of them was run');
  });

  it('still takes text without calls that the content filter stopped for the answer', async () => {
    say({ text: ['I cannot help with that.'], finish: 'filtered' });
    expect(await turn()).toMatchObject({ answer: 'I cannot help with that.', calls: [] });
  });

  it('does not run a call whose arguments the token limit cut before they began', async () => {
    const complete = { id: 'one', tool: 'core__find', pieces: ['{"name":"a"}'] };
    say({ calls: [complete, { id: 'two', tool: 'core__find', pieces: [] }], finish: 'length' });
    expect((await turn()).calls).toMatchObject([{ tool: 'core__find', arguments: '{"name":"a"}' }, ...cutOff]);
  });

  it('says to raise model.max_output_tokens when the limit left nothing', async () => {
    say({ calls: [{ id: 'one', tool: 'core__find', pieces: ['{"na'] }], finish: 'length' });
    const fault = await faultOf();
    expect(fault).toMatchObject({ code: 'model_refused', retryable: false });
    expect(fault.message).toContain('raise model.max_output_tokens');
  });

  it.each([
    [400, 'model_refused', false],
    [401, 'model_refused', false],
    [403, 'model_refused', false],
    [404, 'model_refused', false],
    [408, 'model_unreachable', true],
    [409, 'model_unreachable', true],
    [429, 'model_unreachable', true],
    [500, 'model_unreachable', true],
    [503, 'model_unreachable', true],
  ] as const)(
    'makes of status %i the fault %s, and repeats no key, and the body’s sentence only of a refused request',
    async (status, code, retryable) => {
      endpoint.respond = (response) => {
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify(wire.error(`Bad key ${key}, hidden-detail`)));
      };
      const fault = await faultOf();
      expect(fault).toMatchObject({ code, retryable });
      expect(fault.message).toContain(String(status));
      expect(fault.message).toMatch(/some/i);
      const all = `${fault.stack ?? ''}${JSON.stringify(fault)}${String(fault.cause)}`;
      expect(all).not.toContain(key);
      // Of a request that it refuses, the provider’s own sentence says why.
      if (status === 400) expect(fault.message).toContain('“Bad key (hidden), hidden-detail”');
      else expect(all).not.toContain('hidden-detail');
      expect(endpoint.received).toHaveLength(1);
    },
  );

  it.each([
    ['core__find', 'Invalid schema for function ‘core__find’: array schema missing items.'],
    ['core__find', 'tools.0.custom.input_schema: JSON schema is invalid.'],
    ['core__find_more', 'Invalid tools[1].function.parameters'],
    ['core__find_more', 'The tool core__find_more has no schema.'],
    ['core__find_more', 'GenerateContentRequest.tools[0].function_declarations[1].parameters: wrong'],
    ['core__find', 'Value at toolConfig.tools.1.member.toolSpec failed'],
  ])('names the tool %s where the provider says: %s', async (id, message) => {
    endpoint.respond = (response) =>
      void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(wire.error(message)));
    const fault = await faultOf({ ...request, tools: [tool, { ...tool, id: 'core__find_more' }] });
    expect(fault).toMatchObject({ code: 'model_refused', retryable: false });
    expect(fault.message).toContain(`“${message}” This is about the tool ${id}: take it out`);
  });

  it('repeats a refusal on one line, cut, and without what looks like a secret', async () => {
    const message = `Line\none\u001b[31m sk-ant-api03-abcdefgh Bearer abc.def ${'x'.repeat(600)}`;
    endpoint.respond = (response) =>
      void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(wire.error(message)));
    const { message: said } = await faultOf();
    expect(said).toContain('“Line one\uFFFD[31m (hidden) (hidden) xxx');
    expect(said).toContain('x…” Check model.name');
    expect(said.length).toBeLessThan(520);
  });

  it('takes a body that is no JSON for what its status says', async () => {
    endpoint.respond = (response) => void response.writeHead(502).end('<html>Bad gateway</html>');
    expect(await faultOf()).toMatchObject({ code: 'model_unreachable', retryable: true });
  });

  it('is unreachable when no server listens', async () => {
    await endpoint.close();
    const fault = await faultOf();
    expect(fault).toMatchObject({ code: 'model_unreachable', retryable: true });
    expect(fault.message).toContain('ECONNREFUSED');
  });

  it('is unreachable when the connection breaks before, or within, the turn', async () => {
    endpoint.respond = (response) => void response.destroy();
    expect(await faultOf()).toMatchObject({ code: 'model_unreachable', retryable: true });

    endpoint.respond = async (response) => {
      response.writeHead(200, { 'content-type': wire.contentType });
      await send(response, half);
      response.destroy();
    };
    expect(await faultOf()).toMatchObject({ code: 'model_unreachable', retryable: true });
  });

  it('does not take a stream that was closed early for a turn (T-08d, S-04, S-14)', async () => {
    endpoint.respond = async (response) => {
      response.writeHead(200, { 'content-type': wire.contentType });
      await send(response, half);
      response.end();
    };
    expect(await faultOf()).toMatchObject({ code: 'model_unreachable', retryable: true });
  });

  it('makes an error reported in the stream a fault that may pass', async () => {
    endpoint.respond = async (response) => {
      response.writeHead(200, { 'content-type': wire.contentType });
      await send(response, [...half, wire.streamError]);
      response.end();
    };
    expect(await faultOf()).toMatchObject({ code: 'model_unreachable', retryable: true });
  });

  it('throws the signal’s reason when aborted, and lets go of the connection', async () => {
    const controller = new AbortController();
    const reason = new Error('the run’s time is up');
    let closed: Promise<void> | undefined;
    endpoint.respond = async (response) => {
      closed = new Promise((resolve) => response.on('close', resolve));
      response.writeHead(200, { 'content-type': wire.contentType });
      await send(response, half);
    };
    const running = model.turn(request, {
      signal: controller.signal,
      onText: () => {
        controller.abort(reason);
      },
    });
    await expect(running).rejects.toBe(reason);
    await closed;
    await expect(model.turn(request, { signal: controller.signal })).rejects.toBe(reason);
    expect(endpoint.received).toHaveLength(1);
  });

  it('throws the signal’s reason when aborted before the endpoint answers at all', async () => {
    const controller = new AbortController();
    const reason = new Error('the run’s time is up');
    endpoint.respond = () => {
      controller.abort(reason);
    };
    await expect(model.turn(request, { signal: controller.signal })).rejects.toBe(reason);
  });

  it('passes on what the receiver of the text throws, as it is', async () => {
    say({ text: ['one', 'two'] });
    const mistake = new TypeError('no such page');
    const running = model.turn(request, {
      signal: never,
      onText: () => {
        throw mistake;
      },
    });
    await expect(running).rejects.toBe(mistake);
  });

  it('never mixes two turns that run at the same time (T-08c, S-15)', async () => {
    const scripts: Record<string, Script> = {
      left: {
        text: ['le', 'ft'],
        calls: [{ id: 'l', tool: 'core__find', pieces: ['{"name":', '"left"}'] }],
        inputTokens: 1,
      },
      right: {
        text: ['ri', 'ght'],
        calls: [{ id: 'r', tool: 'core__find', pieces: ['{"name":', '"right"}'] }],
        inputTokens: 2,
      },
    };
    endpoint.respond = async (response, received) => {
      response.writeHead(200, { 'content-type': wire.contentType });
      await send(
        response,
        wire.encode(scripts[JSON.stringify(received.body).includes('go left') ? 'left' : 'right'] ?? {}),
      );
      response.end();
    };
    const [left, right] = await Promise.all(['go left', 'go right'].map((question) => turn({ ...request, question })));
    expect(left).toMatchObject({
      thought: 'left',
      calls: [{ toolCallId: 'l', arguments: '{"name":"left"}' }],
      inputTokens: 1,
    });
    expect(right).toMatchObject({
      thought: 'right',
      calls: [{ toolCallId: 'r', arguments: '{"name":"right"}' }],
      inputTokens: 2,
    });
  });
});
