import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { post } from '../gateway/over-http.js';
import { png, startDoors } from './with-doors.js';
import type { DoorSystem } from './with-doors.js';

type Json = Readonly<Record<string, unknown>>;
const model = 'sluice/default';
let doors: DoorSystem;
beforeAll(async () => {
  doors = await startDoors();
});
afterAll(() => doors.close());

describe('the door for Anthropic’s Messages', () => {
  const client = () => new Anthropic({ apiKey: 'any', baseURL: `${doors.gateway.url}/anthropic`, maxRetries: 0 });
  const ask = (content: string) => ({ model, max_tokens: 100, messages: [{ role: 'user' as const, content }] });

  it('answers whole, and names the limit that no run has', async () => {
    const { data, response } = await client().messages.create(ask('Look')).withResponse();
    expect(data.content.map((block) => (block.type === 'text' ? block.text : block.type)).join('')).toBe('I look.\n\nFound.'); // prettier-ignore
    expect([data.stop_reason, data.usage.input_tokens, data.usage.output_tokens]).toEqual(['end_turn', 2, 2]);
    expect(data.id).toBe(`msg_${response.headers.get('x-sluice-run') ?? ''}`);
    expect(response.headers.get('x-sluice-ignored')).toBe('max_tokens');
  });

  it('streams the same', async () => {
    const message = await client().messages.stream(ask('Look')).finalMessage();
    expect(message.content).toMatchObject([{ type: 'text', text: 'I look.\n\nFound.' }]);
    expect([message.stop_reason, message.usage.output_tokens]).toEqual(['end_turn', 2]);
  });

  it('takes images and what its client says of before', async () => {
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: png };
    await client().messages.create({
      ...ask('Hi'),
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Yes?' },
        {
          role: 'user',
          content: [
            { type: 'image', source },
            { type: 'text', text: 'What is it?' },
          ],
        },
      ],
    });
    const asked = doors.model.asked.at(-1);
    expect([asked?.question, asked?.content?.length]).toEqual(['What is it?', 1]);
    expect(asked?.conversation?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant']);
  });

  it('refuses in the form of its wire', async () => {
    const url = `${doors.gateway.url}/anthropic/v1/messages`;
    const errorOf = async (body: Json) => {
      const response = await post(url, body);
      return [response.status, ((await response.json()) as { error: Json }).error['type']];
    };
    expect(await errorOf({ ...ask('Hi'), model: 'claude' })).toEqual([404, 'not_found_error']);
    expect(await errorOf({ ...ask('Hi'), tools: [{ name: 'mine' }] })).toEqual([400, 'invalid_request_error']);
    expect(await errorOf({ model })).toEqual([400, 'invalid_request_error']);
  });
});

describe('the door for Responses', () => {
  const client = () => new OpenAI({ apiKey: 'any', baseURL: `${doors.gateway.url}/openai/v1`, maxRetries: 0 });

  it('answers whole and streamed, and gives the response again', async () => {
    const { data, response } = await client().responses.create({ model, input: 'Look', metadata: { team: 'a' } }).withResponse(); // prettier-ignore
    const id = response.headers.get('x-sluice-run');
    expect([data.status, data.output_text, data.usage?.total_tokens]).toEqual(['completed', 'I look.\n\nFound.', 4]);
    expect(data.metadata).toEqual({ team: 'a', sluice_run_id: id, sluice_session_id: id });
    const again = await client().responses.retrieve(data.id);
    expect([again.status, again.output_text, again.usage?.total_tokens]).toEqual(['completed', 'I look.\n\nFound.', 4]);
    const streamed = await client().responses.stream({ model, input: 'Look' }).finalResponse();
    expect([streamed.status, streamed.output_text]).toEqual(['completed', 'I look.\n\nFound.']);
  });

  it('goes on from a response in its session, with what was said', async () => {
    const first = await client().responses.create({ model, input: 'Look', instructions: 'Be brief.' });
    const second = await client().responses.create({ model, input: 'And now?', previous_response_id: first.id });
    expect(second.previous_response_id).toBe(first.id);
    expect(second.metadata?.['sluice_session_id']).toBe(first.metadata?.['sluice_session_id']);
    expect(doors.model.asked.at(-1)?.conversation).toEqual([
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'Look' },
      { role: 'assistant', text: 'Found.' },
    ]);
  });

  it('finds a response whose call waits for an approval, and its end', async () => {
    const metadata = { sluice_state: 'analysis' };
    const waiting = await client().responses.create({ model, input: 'Reset', metadata });
    expect(waiting.output_text).toMatch(/waits for an approval/);
    expect((await client().responses.retrieve(waiting.id)).status).toBe('in_progress');
    const onward = client().responses.create({ model, input: 'And?', previous_response_id: waiting.id });
    await expect(onward).rejects.toMatchObject({ status: 409, param: 'previous_response_id' });
  });

  it('shows the thoughts of models in any case, and reads no effort', async () => {
    const reasoning = { effort: 'low', summary: 'auto' } as const;
    const { data, response } = await client().responses.create({ model, input: 'Hi', reasoning }).withResponse();
    expect(data.reasoning).toEqual({ effort: null, summary: 'auto' });
    expect(response.headers.get('x-sluice-ignored')).toBe('reasoning.effort');
  });

  it('has no route to compact a conversation, which clients see by a 404', async () => {
    const response = await post(`${doors.gateway.url}/openai/v1/responses/compact`, { model, input: 'Hi' });
    expect([response.status, await response.json()]).toMatchObject([404, { error: { type: 'invalid_request_error' } }]);
  });

  it('opens no run to a client that made its id up', async () => {
    const { id } = await client().responses.create({ model, input: 'Hi' });
    const link = JSON.parse(Buffer.from(id.slice(5), 'base64url').toString()) as unknown[];
    const forged = (changed: readonly unknown[]) =>
      `resp_${Buffer.from(JSON.stringify(changed)).toString('base64url')}`;
    const [run, session, since, token] = link;
    expect((await client().responses.retrieve(forged([run, session, since, token, model]))).id).toBe(id);
    for (const changed of [
      forged([run, session, since, null, model]),
      forged([run, session, Number(since) - 1, token, model]),
      forged(['other', session, since, token, model]),
    ])
      await expect(client().responses.retrieve(changed)).rejects.toMatchObject({ status: 401 });
    for (const unknown of ['resp_1', 'other', forged(['a']), forged([{}, null, 1, null, model])])
      await expect(client().responses.retrieve(unknown)).rejects.toMatchObject({ status: 404 });
  });
});
