import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { make, sha256, topics } from '@sluice/contracts';
import { canonicalJson } from '@sluice/core';
import { post } from '../gateway/over-http.js';
import { startDoors } from './with-doors.js';
import type { DoorSystem } from './with-doors.js';

type Json = Readonly<Record<string, unknown>>;
type Messages = readonly OpenAI.ChatCompletionMessageParam[];
type Call = OpenAI.ChatCompletionMessageFunctionToolCall;
const model = 'sluice/default';
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tool = (name: string) => ({ type: 'function' as const, function: { name, description: 'Says it.', parameters } });
const tools = [tool('get_weather'), tool('get_time')];

describe('tools of the client over Chat Completions', () => {
  let doors: DoorSystem;
  let client: OpenAI;
  beforeAll(async () => {
    doors = await startDoors();
    client = new OpenAI({ apiKey: 'any', baseURL: `${doors.gateway.url}/openai/v1`, maxRetries: 0 });
  });
  afterAll(() => doors.close());

  const send = (messages: Messages, more: Json = {}) =>
    post(`${doors.gateway.url}/openai/v1/chat/completions`, { model, messages, tools, ...more });
  const errorOf = async (response: Response) => {
    const { error } = (await response.json()) as { readonly error: Json };
    return { status: response.status, ...error };
  };
  const asked = (content: string): Messages => [{ role: 'user', content }];
  /** What a client does: it asks, and keeps the answer. */
  const ask = async (messages: Messages, stream = false) => {
    const given = { model, messages: [...messages], tools };
    const completion = stream
      ? await client.chat.completions.stream(given).finalChatCompletion()
      : await client.chat.completions.create(given);
    const [choice] = completion.choices;
    if (choice === undefined) throw new Error('There is no choice.');
    return {
      completion,
      choice,
      calls: (choice.message.tool_calls ?? []) as Call[],
      after: [...messages, choice.message],
    };
  };
  const results = (calls: readonly Call[], text = 'Snow.') =>
    calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: text }));

  it.each([false, true])('are called, and the run goes on with their results; streamed: %s', async (streamed) => {
    const first = await ask(asked('Weather'), streamed);
    expect([first.choice.finish_reason, first.choice.message.content]).toEqual(['tool_calls', 'I look.']);
    expect(first.calls.map(({ type, function: { name, arguments: args } }) => [type, name, args])).toEqual([
      ['function', 'get_weather', '{"city":"Bern"}'],
      ['function', 'get_time', '{"city":"Bern"}'],
    ]);
    const second = await ask([...first.after, ...results(first.calls)], streamed);
    expect([second.choice.finish_reason, second.calls[0]?.function.name]).toEqual(['tool_calls', 'get_weather']);
    const third = await ask([...second.after, ...results(second.calls, 'Rain.')], streamed);
    expect([third.choice.finish_reason, third.choice.message.content]).toEqual(['stop', 'It snows.']);
    expect(third.completion.id).toBe(first.completion.id);
    const { history } = await doors.system.responseOf(first.completion.id.slice('chatcmpl-'.length));
    expect(history.map(({ action, observation, outcome }) => [action, observation, outcome])).toEqual([
      ['knowledge-query', expect.anything(), 'ok'],
      ['client__get_weather', 'Snow.', 'ok'],
      ['client__get_time', 'Snow.', 'ok'],
      ['client__get_weather', 'Rain.', 'ok'],
    ]);
    if (streamed) return;
    const used = [first, second, third].map(({ completion }) => completion.usage?.total_tokens);
    expect(used).toEqual([2, 2, 2]);
  });

  it('gives the same results the same answer, and refuses others', async () => {
    const first = await ask(asked('Weather'));
    const brought = [...first.after, ...results(first.calls)];
    const second = await ask(brought);
    expect((await ask(brought)).choice).toEqual(second.choice);
    const third = await ask([...second.after, ...results(second.calls)]);
    expect((await ask(brought)).choice).toEqual(second.choice);
    expect((await ask([...second.after, ...results(second.calls)])).choice).toEqual(third.choice);
    expect(await errorOf(await send([...first.after, ...results(first.calls, 'Sun.')]))).toMatchObject({
      ...{ status: 409, type: 'invalid_request_error', code: 'conflict' },
    });
  });

  it('makes another branch of the conversation a run of its own', async () => {
    const first = await ask(asked('Weather'));
    const run = async (messages: Messages) => (await send(messages)).headers.get('x-sluice-run');
    const own = first.completion.id.slice('chatcmpl-'.length);
    const answer = [first.choice.message, ...results(first.calls)];
    expect(await run([{ role: 'user', content: 'Else' }, ...answer])).not.toBe(own);
    expect(await run([{ role: 'system', content: 'Be brief.' }, ...asked('Weather'), ...answer])).not.toBe(own);
    expect(await run([...first.after, ...results(first.calls), { role: 'user', content: 'Hi' }])).not.toBe(own);
    expect(await run([...first.after, ...results(first.calls)])).toBe(own);
  });

  it('names the results that are missing, and knows no other calls', async () => {
    const first = await ask(asked('Weather'));
    const [one, two] = results(first.calls);
    if (one === undefined || two === undefined) throw new Error('There are two calls.');
    const partly = await errorOf(await send([...first.after, one]));
    expect(partly).toMatchObject({ status: 400, type: 'invalid_request_error' });
    expect(partly).toMatchObject({ message: expect.stringContaining(two.tool_call_id) as unknown as string });
    expect(await errorOf(await send([...first.after, one, two, two]))).toMatchObject({ status: 400 });
    expect(await errorOf(await send([...asked('Weather'), one, two]))).toMatchObject({ status: 400 });
    const forged = {
      ...one,
      tool_call_id: `${one.tool_call_id.slice(0, -1)}${one.tool_call_id.endsWith('A') ? 'B' : 'A'}`,
    };
    expect(await errorOf(await send([...first.after, forged, two]))).toMatchObject({ status: 404 });
    const many = Array.from({ length: 5_000 }, (_, n) => ({
      ...one,
      tool_call_id: `call_${`${n}`.padStart(44, 'a')}`,
    }));
    const refused = await errorOf(await send([...first.after, ...many]));
    expect(refused).toMatchObject({ status: 404, message: expect.not.stringContaining('1') as unknown as string });
  });

  it('says of what is nested too deeply that it is, and takes arguments that are for texts', async () => {
    const deep = '['.repeat(20_000) + ']'.repeat(20_000);
    const raw = (member: string) => `{"model":"${model}","messages":[{"role":"user","content":"Hi"}],${member}}`;
    for (const member of [
      `"tools":[{"type":"function","function":{"name":"get_a","parameters":{"enum":${deep}}}}]`,
      `"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"enum":${deep}}}}`,
    ])
      expect(await errorOf(await post(`${doors.gateway.url}/openai/v1/chat/completions`, raw(member)))).toMatchObject({
        status: 400,
        type: 'invalid_request_error',
      });
    const made = { id: 'a', type: 'function' as const, function: { name: 'get_a', arguments: deep } };
    const before: Messages = [...asked('Hi'), { role: 'assistant', tool_calls: [made] }];
    const answer = await send([...before, { role: 'tool', tool_call_id: 'a', content: 'Snow.' }, ...asked('Hi')]);
    expect(answer.status).toBe(200);
  });

  it('are refused where the agent does not take them, and what it says to configure', async () => {
    const refused = await errorOf(await send(asked('Hi'), { tools: [tool('run_code')] }));
    expect(refused).toMatchObject({ status: 400, param: 'tools', type: 'invalid_request_error' });
    expect(refused).toMatchObject({
      message: expect.stringContaining('agents.default.client_tools') as unknown as string,
    });
    for (const odd of [
      [tool('get weather')],
      [tool('get_a'), tool('get_a')],
      Array.from({ length: 129 }, (_, n) => tool(`get_${n}`)),
      [{ type: 'web_search' }],
      [{ type: 'function', function: { name: 'get_a', parameters: { type: 'object', $ref: 'http://127.0.0.1/' } } }],
    ])
      expect(await errorOf(await send(asked('Hi'), { tools: odd }))).toMatchObject({ status: 400, param: 'tools' });
  });

  it('reads no more schemas than a record holds once their references are in place', async () => {
    const ref = (at: number) => ({ $ref: `#/$defs/l${at}` });
    const level = (at: number) =>
      [`l${at}`, { type: 'object', properties: { a: ref(at + 1), b: ref(at + 1) } }] as const;
    const $defs = { ...Object.fromEntries(Array.from({ length: 9 }, (_, at) => level(at))), l9: { type: 'string' } };
    const growing = { type: 'object', $defs, properties: { x: ref(0) } };
    const many = Array.from({ length: 128 }, (_, at) => ({
      type: 'function',
      function: { name: `get_${at}`, parameters: growing },
    }));
    const began = performance.now();
    expect(await errorOf(await send(asked('Hi'), { tools: many }))).toMatchObject({
      ...{ status: 400, param: 'tools' },
      message: expect.stringContaining('with their references in place') as unknown as string,
    });
    const { name, description, schema } = { name: 'get_', description: '', schema: growing };
    const written = many.map((_, at) => ({
      name: `${name}${at}`,
      description,
      schema,
      hash: sha256(canonicalJson(schema)),
    }));
    const clientTools = JSON.stringify({ said: '', tools: written });
    const record = make.agentRequest({ question: 'Hi', clientTools, requestId: 'growing', sessionId: 'growing' });
    await doors.system.bus.publish([{ topic: topics.requests, key: 'growing', record, headers: {} }]);
    expect(await doors.system.responseOf('growing')).toMatchObject({
      kind: 'error',
      error: { message: expect.stringContaining('too large with their references') as unknown as string },
    });
    expect(performance.now() - began).toBeLessThan(8_000);
  });

  it('reads the choice of a tool by the client’s name of it', async () => {
    const choice = { type: 'function', function: { name: 'get_time' } };
    await send(asked('Weather'), { tool_choice: choice });
    expect(doors.model.asked.at(-1)?.toolChoice).toEqual({ type: 'tool', id: 'client__get_time' });
    await send(asked('Hi'), { tool_choice: 'none' });
    expect(doors.model.asked.at(-1)?.toolChoice).toEqual({ type: 'none' });
  });
});
