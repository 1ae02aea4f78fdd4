import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { post } from '../gateway/over-http.js';
import { startDoors } from './with-doors.js';
import type { DoorSystem } from './with-doors.js';

const model = 'sluice/default';
const parameters = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
const names = ['get_weather', 'get_time'];

let doors: DoorSystem;
beforeAll(async () => {
  doors = await startDoors();
});
afterAll(() => doors.close());

describe('tools of the client over Responses', () => {
  const client = () => new OpenAI({ apiKey: 'any', baseURL: `${doors.gateway.url}/openai/v1`, maxRetries: 0 });
  const tools = names.map((name) => ({ type: 'function' as const, name, parameters, strict: false }));
  const callsOf = (response: OpenAI.Responses.Response) =>
    response.output.filter((item) => item.type === 'function_call');
  const outputs = (response: OpenAI.Responses.Response, output = 'Snow.') =>
    callsOf(response).map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output }));
  const answer = async (body: OpenAI.Responses.ResponseCreateParamsNonStreaming, isStreamed: boolean) =>
    isStreamed
      ? client()
          .responses.stream({ ...body, stream: true })
          .finalResponse()
      : client().responses.create(body);

  it.each([false, true])('are called, and it goes on from a response; streamed: %s', async (isStreamed) => {
    const first = await answer({ model, input: 'Weather', tools }, isStreamed);
    expect([first.status, callsOf(first).map(({ name, arguments: args }) => [name, args])]).toEqual([
      ...['completed', names.map((name) => [name, '{"city":"Bern"}'])],
    ]);
    const onward = (from: OpenAI.Responses.Response) =>
      answer({ model, input: outputs(from), previous_response_id: from.id, tools }, isStreamed);
    const second = await onward(first);
    expect(callsOf(second).map(({ name }) => name)).toEqual(['get_weather']);
    expect(second.id).not.toBe(first.id);
    const third = await onward(second);
    expect([third.status, third.output_text]).toEqual(['completed', 'It snows.']);
    expect((await onward(first)).output).toEqual(second.output);
    const kept = await client().responses.retrieve(third.id);
    expect(kept.output_text).toContain('It snows.');
    const next = await client().responses.create({ model, input: 'Hi', previous_response_id: third.id });
    expect(next.output_text).toBe('Hello there.');
  });

  it('goes on with all that was said, too, and from no other response', async () => {
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Weather' }];
    const first = await client().responses.create({ model, input, tools });
    const said = [...input, ...(first.output as OpenAI.Responses.ResponseInput), ...outputs(first)];
    const second = await client().responses.create({ model, input: said, tools });
    expect(second.metadata?.['sluice_run_id']).toBe(first.metadata?.['sluice_run_id']);
    const other = await client().responses.create({ model, input: 'Hi' });
    const wrong = client().responses.create({ model, input: outputs(first), previous_response_id: other.id });
    await expect(wrong).rejects.toMatchObject({ status: 400 });
    await expect(client().responses.create({ model, input: outputs(first) })).rejects.toMatchObject({ status: 400 });
    const changed = client().responses.create({ model, input: outputs(first, 'Sun.'), previous_response_id: first.id });
    await expect(changed).rejects.toMatchObject({ status: 409 });
  });

  it('shows the calls of a response that waits, and begins another branch with a message', async () => {
    const first = await client().responses.create({ model, input: 'Weather', tools });
    const seen = await client().responses.retrieve(first.id);
    expect(callsOf(seen)).toEqual(callsOf(first));
    expect([seen.status, seen.output_text, seen.usage?.total_tokens]).toEqual(['completed', 'I look.', 2]);
    const next = await client().responses.create({ model, input: 'Hi', previous_response_id: first.id });
    expect(next.output_text).toBe('Hello there.');
    expect(doors.model.asked.at(-1)?.conversation?.map(({ text }) => text)).toEqual(['Weather']);
  });
});

describe('tools of the client over Messages', () => {
  const client = () => new Anthropic({ apiKey: 'any', baseURL: `${doors.gateway.url}/anthropic`, maxRetries: 0 });
  const tools = names.map((name) => ({ name, description: 'Says it.', input_schema: parameters }));
  const given = (messages: readonly Anthropic.MessageParam[]) => ({
    ...{ model, max_tokens: 100, messages: [...messages], tools },
  });
  const ask = (messages: readonly Anthropic.MessageParam[], isStreamed: boolean): Promise<Anthropic.Message> =>
    isStreamed ? client().messages.stream(given(messages)).finalMessage() : client().messages.create(given(messages));
  const after = (
    messages: readonly Anthropic.MessageParam[],
    { content }: Anthropic.Message,
    text = 'Snow.',
    isError = false,
  ): readonly Anthropic.MessageParam[] => [
    ...messages,
    { role: 'assistant', content },
    {
      role: 'user',
      content: content.flatMap((block) =>
        block.type === 'tool_use'
          ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: text, is_error: isError }]
          : [],
      ),
    },
  ];

  it.each([false, true])('are called, and the run goes on with their results; streamed: %s', async (isStreamed) => {
    const asked: readonly Anthropic.MessageParam[] = [{ role: 'user', content: 'Weather' }];
    const first = await ask(asked, isStreamed);
    expect(first.stop_reason).toBe('tool_use');
    expect(first.content).toMatchObject([
      { type: 'text', text: 'I look.' },
      ...names.map((name) => ({ type: 'tool_use', name, input: { city: 'Bern' } })),
    ]);
    const second = await ask(after(asked, first), isStreamed);
    expect(second.content).toMatchObject([{ type: 'tool_use', name: 'get_weather' }]);
    const third = await ask(after(after(asked, first), second, 'It broke.', true), isStreamed);
    expect([third.stop_reason, third.content]).toMatchObject(['end_turn', [{ type: 'text', text: 'It snows.' }]]);
    const { history } = await doors.system.responseOf(third.id.slice('msg_'.length));
    expect(history.at(-1)).toMatchObject({ outcome: 'execution', reason: 'user_error', observation: 'It broke.' });
  });

  it('refuses in the form of its wire', async () => {
    const asked: readonly Anthropic.MessageParam[] = [{ role: 'user', content: 'Weather' }];
    const first = await ask(asked, false);
    const typeOf = async (messages: readonly Anthropic.MessageParam[]) => {
      const response = await post(`${doors.gateway.url}/anthropic/v1/messages`, given(messages));
      return [response.status, ((await response.json()) as { error: { type: string } }).error.type];
    };
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const pictured = after(asked, first).map((message) =>
      message.role === 'user' && Array.isArray(message.content)
        ? { ...message, content: message.content.map((block) => ({ ...block, content: [image] })) }
        : message,
    );
    expect(await typeOf(pictured as Anthropic.MessageParam[])).toEqual([400, 'invalid_request_error']);
    await ask(after(asked, first), false);
    expect(await typeOf(after(asked, first, 'Sun.'))).toEqual([409, 'invalid_request_error']);
  });
});
