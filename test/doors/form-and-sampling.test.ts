import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { post } from '../gateway/over-http.js';
import { replayed } from '../replay/replaying.js';
import { startDoors } from './with-doors.js';
import type { DoorSystem } from './with-doors.js';

type Json = Readonly<Record<string, unknown>>;
const model = 'sluice/default';
let doors: DoorSystem;
beforeAll(async () => {
  doors = await startDoors(
    {},
    "model: { provider: openai-compatible, name: scripted, base_url: 'http://127.0.0.1:9' }",
  );
});
afterAll(() => doors.close());

const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false };
const other = { ...schema, properties: { n: { type: 'string' } } };

describe('an answer with a schema behind a door', () => {
  const client = () => new OpenAI({ apiKey: 'any', baseURL: `${doors.gateway.url}/openai/v1`, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Number' }];
  const format = (one: object) => ({
    type: 'json_schema' as const,
    json_schema: { name: 'number', schema: { ...one } },
  });

  it('is JSON and nothing else in Chat Completions, whole and streamed', async () => {
    const whole = await client().chat.completions.parse({ model, messages, response_format: format(schema) });
    expect(whole.choices[0]?.message).toMatchObject({ content: '{"n":1}', parsed: { n: 1 } });
    expect(doors.model.asked.at(-1)?.answerSchema).toEqual(schema);
    const stream = client().chat.completions.stream({ model, messages, response_format: format(schema) });
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('{"n":1}');
    const any = { type: 'json_object' as const };
    const object = await client().chat.completions.create({ model, messages, response_format: any });
    expect(object.choices[0]?.message.content).toBe('{"n":1}');
    expect(doors.model.asked.at(-1)?.answerSchema).toEqual({ type: 'object' });
    const text = await client().chat.completions.create({ model, messages, response_format: { type: 'text' } });
    expect(text.choices[0]?.message.content).toBe('I look.\n\n```json\n{"n": 1}\n```');
  });

  it('is an error where nothing fits, whole and streamed', async () => {
    const asked = { model, messages, response_format: format(other) };
    await expect(client().chat.completions.create(asked)).rejects.toMatchObject({
      status: 422,
      code: 'answer_invalid',
    });
    const events: string[] = [];
    const stream = await client().chat.completions.create({ ...asked, stream: true });
    await expect(
      (async () => {
        for await (const { choices } of stream) events.push(...choices.flatMap(({ delta }) => delta.content ?? []));
      })(),
    ).rejects.toThrow('gave no answer that fits');
    expect(events.join('')).toBe('');
  });

  it('is that of Responses, also when it is read later', async () => {
    const text = { format: { type: 'json_schema' as const, name: 'number', schema }, verbosity: 'low' as const };
    const { data, response } = await client().responses.create({ model, input: 'Number', text }).withResponse();
    expect([data.output_text, data.status]).toEqual(['{"n":1}', 'completed']);
    expect(data.text).toMatchObject({ format: { type: 'json_schema', name: 'number' } });
    expect(response.headers.get('x-sluice-ignored')).toBe('text.verbosity');
    const later = await client().responses.retrieve(data.id);
    expect(JSON.stringify(later.output)).toContain('"text":"{\\"n\\":1}"');
    const streamed = [];
    for await (const event of await client().responses.create({ model, input: 'Number', text, stream: true }))
      if (event.type === 'response.output_text.delta') streamed.push(event.delta);
    expect(streamed).toEqual(['{"n":1}']);
  });

  it('is JSON also where the agent has the schema', async () => {
    const asked = { model: 'sluice/sorts', messages };
    const whole = await client().chat.completions.create(asked);
    expect(whole.choices[0]?.message.content).toBe('{"n":1}');
    const stream = client().chat.completions.stream(asked);
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('{"n":1}');
    expect(doors.model.asked.at(-1)?.answerSchema).toEqual({ type: 'object', required: ['n'] });
  });

  it('is that of Messages, by both names', async () => {
    const anthropic = new Anthropic({ apiKey: 'any', baseURL: `${doors.gateway.url}/anthropic`, maxRetries: 0 });
    const asked = { model, max_tokens: 100, messages };
    const form = { type: 'json_schema' as const, schema };
    for (const more of [{ output_config: { format: form } }, { output_format: form }]) {
      const { content } = await anthropic.messages.create({ ...asked, ...more });
      expect(content).toMatchObject([{ type: 'text', text: '{"n":1}' }]);
    }
    const final = await anthropic.messages.stream({ ...asked, output_config: { format: form } }).finalMessage();
    expect(final.content).toMatchObject([{ type: 'text', text: '{"n":1}' }]);
  });

  it.each([
    [{ type: 'grammar' }, 'Give response_format the type text, json_object or json_schema, or leave it out.'],
    [{ type: 'json_schema', json_schema: { schema: 'x' } }, 'Give the JSON Schema in response_format, as an object.'],
    [
      { type: 'json_schema', json_schema: { schema: { $ref: 'https://example.com' } } },
      'refers to "https://example.com"',
    ],
  ])('is refused as %j', async (response_format, sentence) => {
    const body = { model, messages, response_format };
    const response = await post(`${doors.gateway.url}/openai/v1/chat/completions`, body);
    const { error } = (await response.json()) as { error: Json };
    expect([response.status, error['message']]).toEqual([400, expect.stringContaining(sentence)]);
  });
});

describe('what a client asks of the writing', () => {
  const client = () => new OpenAI({ apiKey: 'any', baseURL: `${doors.gateway.url}/openai/v1`, maxRetries: 0 });
  const none = {
    ...{ temperature: null, topP: null, maxOutputTokens: null, stop: [], seed: null, reasoningEffort: null },
  };

  it('goes to a model that has words for it, on the record, and the rest is named', async () => {
    const asked = {
      ...{ model, messages: [{ role: 'user' as const, content: 'Hi' }], temperature: 0.2, top_p: 0.5, max_tokens: 70 },
      ...{ stop: 'END', seed: 3, reasoning_effort: 'low' as const, presence_penalty: 1 },
    };
    const { response } = await client().chat.completions.create(asked).withResponse();
    expect(response.headers.get('x-sluice-ignored')).toBe('presence_penalty');
    const sampling = {
      temperature: 0.2,
      topP: 0.5,
      maxOutputTokens: 70,
      stop: ['END'],
      seed: 3,
      reasoningEffort: 'low',
    };
    expect(doors.model.asked.at(-1)?.sampling).toEqual(sampling);
    const requests = await doors.system.all('agent.requests');
    expect(requests.at(-1)?.record.sampling).toEqual(sampling);
    const found = await replayed(doors.system.bus, null);
    expect(found.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });

  it('is read in the words of the other wires', async () => {
    const reasoning = { effort: 'high' as const, summary: 'auto' as const };
    const more = { max_output_tokens: 60, reasoning };
    const { response } = await client()
      .responses.create({ model, input: 'Hi', ...more })
      .withResponse();
    expect(response.headers.get('x-sluice-ignored')).toBeNull();
    expect(doors.model.asked.at(-1)?.sampling).toEqual({ ...none, maxOutputTokens: 60, reasoningEffort: 'high' });
    const anthropic = new Anthropic({ apiKey: 'any', baseURL: `${doors.gateway.url}/anthropic`, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const asked = { model, max_tokens: 80, messages, stop_sequences: ['END'], top_k: 4 };
    const { response: other } = await anthropic.messages.create(asked).withResponse();
    expect(other.headers.get('x-sluice-ignored')).toBe('top_k');
    expect(doors.model.asked.at(-1)?.sampling).toEqual({ ...none, maxOutputTokens: 80, stop: ['END'] });
  });

  it('is refused where no model takes it', async () => {
    const asked = { model, messages: [{ role: 'user' as const, content: 'Hi' }], temperature: 3 };
    await expect(client().chat.completions.create(asked)).rejects.toThrow('temperature must be a number from 0 to 2');
  });
});
