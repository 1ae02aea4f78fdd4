import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Fault, type ModelSettings } from '@sluice/core';
import { createModel } from '@sluice/model';
import { encodeRequest, type TurnPart } from '@sluice/wires';
import { createFaults } from '../src/provider/faults.js';
import { requestOf } from './requests.js';
import { type Endpoint, send, startEndpoint } from './wires/endpoint.js';
import { openai } from './wires/openai.js';

const never = new AbortController().signal;

describe('an endpoint that goes wrong', () => {
  let endpoint: Endpoint;
  beforeEach(async () => {
    endpoint = await startEndpoint();
  });
  afterEach(() => endpoint.close());

  async function turn(signal = never) {
    const settings: ModelSettings = {
      provider: 'openai-compatible',
      name: 'm',
      baseUrl: `${endpoint.url}/`,
      apiKeyEnv: null,
      region: null,
      maxOutputTokens: 256,
    };
    const model = await createModel(settings, { secret: () => undefined });
    return model.turn(requestOf({}), { signal });
  }
  const faultOf = async (): Promise<Fault> => {
    const error: unknown = await turn().catch((thrown: unknown) => thrown);
    if (!(error instanceof Fault)) throw new Error('A fault was expected.', { cause: error });
    return error;
  };
  const answer = async (response: Parameters<Endpoint['respond']>[0]) => {
    response.writeHead(200, { 'content-type': openai.contentType });
    await send(response, openai.encode({ text: ['ok'] }));
    response.end();
  };

  it('and asks for a short wait is asked again after it, once it is over', async () => {
    let first = 0;
    endpoint.respond = async (response) => {
      if (endpoint.received.length > 1) return answer(response);
      first = performance.now();
      response.writeHead(429, { 'retry-after': '1' }).end('{}');
    };
    expect(await turn()).toMatchObject({ answer: 'ok' });
    expect(endpoint.received).toHaveLength(2);
    expect(performance.now() - first).toBeGreaterThanOrEqual(990);
  });

  it.each([503, 529])('and asks for a wait with %i is asked again', async (status) => {
    endpoint.respond = async (response) => {
      if (endpoint.received.length > 1) return answer(response);
      response.writeHead(status, { 'retry-after': '0' }).end('{}');
    };
    expect(await turn()).toMatchObject({ answer: 'ok' });
    expect(endpoint.received).toHaveLength(2);
  });

  it.each<[Readonly<Record<string, string>>, number]>([
    [{ 'retry-after': '0.5' }, 490],
    [{ 'retry-after-ms': '300' }, 290],
    [{ 'retry-after-ms': '0', 'retry-after': '3600' }, 0],
  ])('and asks for a wait by %j is asked again after it', async (headers, least) => {
    let first = 0;
    endpoint.respond = async (response) => {
      if (endpoint.received.length > 1) return answer(response);
      first = performance.now();
      response.writeHead(429, headers).end('{}');
    };
    expect(await turn()).toMatchObject({ answer: 'ok' });
    expect(performance.now() - first).toBeGreaterThanOrEqual(least);
  });

  it.each(['context_length_exceeded', 'request_too_large', 'string_above_max_length', 'model_not_found'])(
    'and says %s in its turn is not asked again',
    async (code) => {
      endpoint.respond = (response) =>
        void response
          .writeHead(200, { 'content-type': openai.contentType })
          .end(`data: ${JSON.stringify({ error: { message: 'It is too much.', code } })}\n\n`);
      const fault = await faultOf();
      expect(fault).toMatchObject({ code: 'model_refused', retryable: false });
      expect(fault.message).toContain(`refused the request (${code}): “It is too much.”`);
      expect(endpoint.received).toHaveLength(1);
    },
  );

  it.each<[string, number, object]>([
    ['a status of its own', 401, { code: 'invalid_api_key', message: 'Incorrect API key provided: sk-abc.' }],
    [
      'Google’s 400',
      400,
      { code: 400, status: 'INVALID_ARGUMENT', message: 'API key not valid. Please pass a valid API key.' },
    ],
    ['a name in its turn', 200, { type: 'authentication_error', message: 'invalid x-api-key' }],
    ['a code in its turn', 200, { code: 'invalid_api_key', message: 'Wrong.' }],
  ])('and says with %s that the key is wrong gets a sentence about the key', async (_, status, error) => {
    endpoint.respond = (response) =>
      void response
        .writeHead(status, { 'content-type': status === 200 ? openai.contentType : 'application/json' })
        .end(status === 200 ? `data: ${JSON.stringify({ error })}\n\n` : JSON.stringify({ error }));
    const fault = await faultOf();
    expect(fault).toMatchObject({ code: 'model_refused', retryable: false });
    expect(fault.message).toMatch(/did not accept the key .*model\.api_key_env/);
    expect(fault.message).not.toContain('sk-abc');
  });

  it('and gives its content as a list of parts, as Mistral does, is read and gets its thoughts back', async () => {
    const chunk = (delta: object, finish_reason: string | null = null): string =>
      `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
    endpoint.respond = (response) =>
      void response.writeHead(200, { 'content-type': openai.contentType }).end(
        [
          chunk({ role: 'assistant', content: [thinking('Let me ')] }),
          chunk({ content: [thinking('see.'), { type: 'text', text: 'Be' }] }),
          chunk({
            content: [
              { type: 'reference', reference_ids: [1] },
              { type: 'text', text: 'rn' },
            ],
          }),
          chunk({ content: '.' }, 'stop'),
          'data: [DONE]\n\n',
        ].join(''),
      );
    const { answer: text, raw } = await turn();
    expect(text).toBe('Bern.');
    const [thought] = raw ?? [];
    expect(thought).toMatchObject({ kind: 'reasoning', payload: { text: 'Let me see.' } });
    const parts = [thought?.payload as TurnPart, { type: 'text', text: 'Bern.' } as const];
    const blank = {
      model: 'm',
      instructions: '',
      tools: [],
      toolChoice: null,
      maxOutputTokens: null,
      temperature: null,
    };
    const message = { role: 'assistant', parts } as const;
    const { body } = encodeRequest('openai-chat', {
      ...blank,
      topP: null,
      stopSequences: [],
      stream: true,
      messages: [message],
    });
    expect((JSON.parse(body) as { messages: readonly unknown[] }).messages).toEqual([
      { role: 'assistant', content: [thinking('Let me see.'), { type: 'text', text: 'Bern.' }] },
    ]);
  });

  it('and asks for a wait with a status that says something else is not retried', async () => {
    endpoint.respond = (response) => void response.writeHead(500, { 'retry-after': '0' }).end('{}');
    expect(await faultOf()).toMatchObject({ code: 'model_unreachable', retryable: true });
    expect(endpoint.received).toHaveLength(1);
  });

  it('and says in its turn that the quota is used up is not retried', async () => {
    const error = {
      message: 'You exceeded your current quota.',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    };
    endpoint.respond = (response) =>
      void response
        .writeHead(200, { 'content-type': openai.contentType })
        .end(`data: {"choices":[{"delta":{"content":"Half"}}]}\n\ndata: ${JSON.stringify({ error })}\n\n`);
    const fault = await faultOf();
    expect(fault).toMatchObject({ code: 'model_refused', retryable: false });
    expect(fault.message).toContain('insufficient_quota');
    expect(endpoint.received).toHaveLength(1);
  });

  it('and asks for a long wait, for none or for nonsense is left to the bus', async () => {
    for (const headers of [{ 'retry-after': '3600' }, {}, { 'retry-after': 'soon' }]) {
      endpoint.received.length = 0;
      endpoint.respond = (response) => void response.writeHead(503, headers).end('{}');
      expect(await faultOf()).toMatchObject({ code: 'model_unreachable', retryable: true });
      expect(endpoint.received).toHaveLength(1);
    }
  });

  it('and asks for a wait again and again is left to the bus at last', async () => {
    endpoint.respond = (response) => void response.writeHead(429, { 'retry-after': '0' }).end('{}');
    expect(await faultOf()).toMatchObject({ code: 'model_unreachable', retryable: true });
    expect(endpoint.received).toHaveLength(4);
  });

  it('and asks for a wait is not waited for once the turn is aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('the run’s time is up');
    endpoint.respond = (response) => {
      response.writeHead(429, { 'retry-after': '15' }).end('{}');
      setTimeout(() => controller.abort(reason), 50);
    };
    await expect(turn(controller.signal)).rejects.toBe(reason);
  });

  it.each<[string, number, string, string, Partial<Fault>]>([
    ['an HTML page with status 200', 200, '<html>Sign in</html>', 'an HTML page', { retryable: false }],
    ['JSON of something else', 200, '{"ok":true}', '`choices[0].message` is missing', { retryable: false }],
    ['an error object with status 200', 200, '{"error":{"type":"server_error"}}', 'server_error', { retryable: true }],
    [
      'a field of the wrong type',
      200,
      'data: {"choices":[{"delta":{"content":5}}]}\n\n',
      '`choices[0].delta.content`',
      { retryable: false },
    ],
    ['nothing', 200, '', 'broke off', { retryable: true }],
    ['a redirect', 307, '', 'answered with a redirect (307)', { retryable: false }],
    ['success that is no turn', 204, '', 'answered without a turn (204)', { retryable: false }],
  ])('with %s gets its own sentence', async (_, status, body, sentence, expected) => {
    endpoint.respond = (response) => void response.writeHead(status).end(body);
    const fault = await faultOf();
    expect(fault).toMatchObject(expected);
    expect(fault.message).toContain(sentence);
    expect(fault.message).toMatch(/^The model openai-compatible\/m /);
  });

  it('with a whole answer where a stream was asked for gives its turn', async () => {
    endpoint.respond = (response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(
          '{"choices":[{"message":{"content":"Whole."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1.5,"completion_tokens":-5}}',
        );
    const { raw, ...rest } = await turn();
    expect(rest).toEqual({ thought: '', calls: [], answer: 'Whole.', inputTokens: 0, outputTokens: 0 });
    expect(raw?.map(({ kind }) => kind)).toEqual(['whole_for_stream', 'bad_usage', 'bad_usage']);
  });

  it('counts the tokens that came from the provider’s cache', async () => {
    const usage = { prompt_tokens: 90, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 64 } };
    endpoint.respond = (response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }], usage }));
    expect(await turn()).toMatchObject({ inputTokens: 90, outputTokens: 3, cachedInputTokens: 64 });
  });

  it.each([
    ['UND_ERR_CONNECT_TIMEOUT', 'could not be connected to within 10 seconds'],
    ['UND_ERR_HEADERS_TIMEOUT', 'sent nothing within 300 seconds'],
    ['UND_ERR_INVALID_ARG', 'has no valid address'],
  ])('says of %s: %s', (code, sentence) => {
    const fault = createFaults('m', { signal: never, tools: [], hide: (text) => text }).fromRequest(
      Object.assign(new Error('secret'), { code }),
    ) as Fault;
    expect(fault.message).toContain(sentence);
    expect(fault.message).not.toContain('secret');
  });

  it('says how long it was silent within a turn', () => {
    const silent = Object.assign(new Error('secret'), { code: 'UND_ERR_BODY_TIMEOUT' });
    expect(createFaults('m', { signal: never, tools: [], hide: (text) => text }).fromStream(silent)).toMatchObject({
      message: 'The model m was silent for 120 seconds within its turn; it can be asked again.',
      retryable: true,
    });
  });
});
