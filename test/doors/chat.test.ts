import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { eventually } from '../harness/eventually.js';
import { post } from '../gateway/over-http.js';
import { png, startDoors } from './with-doors.js';
import type { DoorSystem } from './with-doors.js';

type Json = Readonly<Record<string, unknown>>;
const model = 'sluice/default';

describe('the door for Chat Completions', () => {
  let doors: DoorSystem;
  let client: OpenAI;
  beforeAll(async () => {
    doors = await startDoors();
    client = new OpenAI({ apiKey: 'any', baseURL: `${doors.gateway.url}/openai/v1`, maxRetries: 0 });
  });
  afterAll(() => doors.close());

  const send = (body: Json, headers: Readonly<Record<string, string>> = {}) =>
    post(`${doors.gateway.url}/openai/v1/chat/completions`, { model, ...body }, headers);
  const ask = (content: unknown, more: Json = {}, headers: Readonly<Record<string, string>> = {}) =>
    send({ messages: [{ role: 'user', content }], ...more }, headers);
  const errorOf = async (response: Response) => {
    const { error } = (await response.json()) as { readonly error: Json };
    return { status: response.status, ...error };
  };

  it('lists the agents as models', async () => {
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toEqual([model, 'sluice/support']);
    expect((await ask('Hi', { model: 'sluice/support' })).status).toBe(200);
    expect(doors.model.asked.at(-1)?.instructions).toContain('Help.');
    expect(await errorOf(await ask('Hi', { model: 'sluice/ours' }))).toMatchObject({ status: 404 });
  });

  it('answers with a run, whole: its texts, its tokens, its id', async () => {
    const { data, response } = await client.chat.completions
      .create({ model, messages: [{ role: 'user', content: 'Look' }] })
      .withResponse();
    const [choice] = data.choices;
    expect([choice?.message.content, choice?.finish_reason]).toEqual(['I look.\n\nFound.', 'stop']);
    expect(choice?.message.tool_calls).toBeUndefined();
    expect(data.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 });
    const id = response.headers.get('x-sluice-run') ?? '';
    expect(data.id).toBe(`chatcmpl-${id}`);
    expect((data as unknown as Json)['metadata']).toEqual({ sluice_run_id: id, sluice_session_id: id });
    const end = await doors.system.responseOf(id);
    expect([end.answer, end.run?.requestedGroups]).toEqual(['Found.', ['*']]);
    const location = new URL(response.headers.get('location') ?? '', doors.gateway.url);
    expect(((await (await fetch(location)).json()) as Json)['answer']).toBe('Found.');
  });

  it('streams the same', async () => {
    const stream = await client.chat.completions.create({
      ...{ model, stream: true, stream_options: { include_usage: true } },
      messages: [{ role: 'user', content: 'Look' }],
    });
    let said = '';
    let finish: string | null | undefined = null;
    let usage: unknown;
    for await (const chunk of stream) {
      said += chunk.choices[0]?.delta.content ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
      usage = chunk.usage ?? usage;
    }
    expect([said, finish]).toEqual(['I look.\n\nFound.', 'stop']);
    expect(usage).toMatchObject({ total_tokens: 4 });
  });

  it('says where an answer is not whole', async () => {
    const { choices } = (await (await ask('Cut')).json()) as { readonly choices: readonly Json[] };
    expect(choices[0]?.['finish_reason']).toBe('length');
  });

  it('gives the model the client’s messages as its words, and no step', async () => {
    const call = { id: 'c', type: 'function', function: { name: 'core__graph-update', arguments: '{"all":true}' } };
    await send({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Delete it.' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: 'approved and done' },
        { role: 'user', content: 'And now?' },
      ],
    });
    const asked = doors.model.asked.at(-1);
    expect(asked?.question).toBe('And now?');
    expect(asked?.history).toEqual([]);
    expect(asked?.conversation).toEqual([
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'Delete it.' },
      { role: 'assistant', text: '(a call of core__graph-update with {"all":true})' },
      { role: 'user', text: '(what the client says core__graph-update gave: approved and done)' },
    ]);
  });

  it('leaves out the oldest messages beyond a bound, and says so', async () => {
    const old = Array.from({ length: 3 }, (_, n) => ({ role: 'user', content: `${n}${'x'.repeat(60_000)}` }));
    const response = await send({ messages: [...old, { role: 'user', content: 'And now?' }] });
    expect(response.headers.get('x-sluice-ignored')).toBe('messages (the 1 oldest)');
    expect(doors.model.asked.at(-1)?.conversation?.map(({ text }) => text[0])).toEqual(['1', '2']);
  });

  it('takes images of the whole conversation, and refuses those that would have to be fetched', async () => {
    const image = (url: string) => ({ type: 'image_url', image_url: { url } });
    const inline = image(`data:image/png;base64,${png}`);
    const response = await send({
      messages: [
        { role: 'user', content: [inline, { type: 'text', text: 'A dot.' }] },
        { role: 'assistant', content: 'Yes.' },
        { role: 'user', content: [inline] },
      ],
    });
    expect(response.status).toBe(200);
    const asked = doors.model.asked.at(-1);
    expect(asked?.content?.map(({ kind, type }) => [kind, type])).toEqual([['image', 'image/png']]);
    expect(asked?.question).toMatch(/attached/);
    const fetched = await errorOf(await ask([image('http://169.254.169.254/')]));
    expect(fetched).toMatchObject({ status: 400, type: 'invalid_request_error' });
  });

  it('names what it does not read, and refuses what it cannot leave out', async () => {
    const response = await ask('Hi', { temperature: 0, seed: 7, stop: null, metadata: { team: 'a' }, user: 'ann' });
    expect(response.headers.get('x-sluice-ignored')).toBe('temperature, seed, user, metadata.team');
    const named = await send({ messages: [{ role: 'user', content: 'Hi', name: 'ann' }] });
    expect(named.headers.get('x-sluice-ignored')).toBe('messages[0].name');
    const none = await ask('Hi', { tools: [], n: 1, response_format: { type: 'text' } });
    expect([none.status, none.headers.get('x-sluice-ignored')]).toEqual([200, null]);
    const tool = { type: 'function', function: { name: 'mine' } };
    for (const more of [{ tools: [tool] }, { n: 2 }, { logprobs: true }, { response_format: { type: 'grammar' } }])
      expect(await errorOf(await ask('Hi', more))).toMatchObject({
        ...{ status: 400, type: 'invalid_request_error', code: 'unsupported_parameter', param: Object.keys(more)[0] },
      });
  });

  it.each<readonly [string, Json, Json]>([
    ['no model', { model: undefined, messages: [] }, { status: 400, param: 'model' }],
    ['a model of another name', { model: 'gpt-5', messages: [] }, { status: 404, code: 'model_not_found' }],
    ['no messages', {}, { status: 400, param: 'messages' }],
    ['an answer to go on with', { messages: [{ role: 'assistant', content: 'So' }] }, { status: 400 }],
    ['a message of no form', { messages: ['Hi'] }, { status: 400, type: 'invalid_request_error' }],
    ['an empty question', { messages: [{ role: 'user', content: ' ' }] }, { status: 400 }],
    ['a list for metadata', { messages: [{ role: 'user', content: 'a' }], metadata: [] }, { status: 400 }],
  ])('refuses %s in the form of its wire', async (_, body, expected) => {
    expect(await errorOf(await send(body))).toMatchObject(expected);
  });

  it('refuses other methods, paths, types and bodies in that form', async () => {
    const url = `${doors.gateway.url}/openai/v1/chat/completions`;
    expect(await errorOf(await fetch(url))).toMatchObject({ status: 405, type: 'invalid_request_error' });
    expect(await errorOf(await fetch(`${doors.gateway.url}/openai/v1/files`))).toMatchObject({ status: 404 });
    expect(await errorOf(await post(url, '{'))).toMatchObject({ status: 400 });
    expect(await errorOf(await post(url, '{}', { 'content-type': 'text/plain' }))).toMatchObject({ status: 415 });
    expect(await errorOf(await ask('x'.repeat(1_100_000)))).toMatchObject({ status: 413 });
  });

  it('narrows the groups by a header or metadata, and starts in a state', async () => {
    const groupsOf = async (response: Response): Promise<unknown> => {
      const end = await doors.system.responseOf(response.headers.get('x-sluice-run') ?? '');
      return [end.run?.requestedGroups, end.state];
    };
    const headers = { 'x-sluice-groups': 'read-only, text', 'x-sluice-state': 'analysis' };
    expect(await groupsOf(await ask('Hi', {}, headers))).toEqual([['read-only', 'text'], 'analysis']);
    expect(await groupsOf(await ask('Hi', { metadata: { sluice_groups: '' } }))).toEqual([[], 'undefined']);
  });

  it('says of a call that waits for an approval that it does, and the run goes on', async () => {
    const response = await ask('Reset', { metadata: { sluice_state: 'analysis' } });
    const { choices, usage } = (await response.json()) as { choices: { message: { content: string } }[]; usage: Json };
    const id = response.headers.get('x-sluice-run') ?? '';
    expect(choices[0]?.message.content).toMatch(/waits for an approval/);
    expect(choices[0]?.message.content).toContain(`${doors.gateway.url}/runs/${id}?`);
    expect(choices[0]?.message.content).not.toContain('token=');
    expect(usage['total_tokens']).toBe(2);
    const ends = await doors.system.all('agent.responses');
    expect(ends.some(({ record }) => record.requestId === id)).toBe(false);
  });

  it('gives the same key the same run', async () => {
    const headers = { 'idempotency-key': 'one' };
    const [first, again] = [await ask('Hi', {}, headers), await ask('Hi', {}, headers)];
    expect(((await first.json()) as Json)['id']).toBe(((await again.json()) as Json)['id']);
    expect(await errorOf(await ask('Other', {}, headers))).toMatchObject({ status: 409 });
  });
});

describe('a door, as its operator sets it', () => {
  it('shows calls as text, and cancels the run of a client that leaves', async () => {
    let release = (): void => undefined;
    const slow = new Promise<void>((resolve) => (release = resolve));
    const doors = await startDoors({ SLUICE_DOOR_CALLS: 'text', SLUICE_DOOR_LEAVING: 'cancel' }, '', slow);
    try {
      const url = `${doors.gateway.url}/openai/v1/chat/completions`;
      const body = (content: string) => ({ model, stream: true, messages: [{ role: 'user', content }] });
      expect(await (await post(url, body('Look'))).text()).toContain('Calls core__knowledge-query with ');
      const leaving = new AbortController();
      const response = await post(url, body('Wait'), {}, leaving.signal);
      const id = response.headers.get('x-sluice-run') ?? '';
      await eventually(
        () => doors.model.asked.map(({ question }) => question),
        (questions) => questions.includes('Wait'),
      );
      leaving.abort();
      // The scripted model does not hear that its request is broken off.
      await eventually(
        () => doors.system.all('agent.cancellations'),
        (found) => found.some(({ record }) => record.requestId === id && record.outcome !== null),
      );
      release();
      const end = await doors.system.responseOf(id);
      expect(end.error?.code).toBe('cancelled');
    } finally {
      release();
      await doors.close();
    }
  });

  it('ends a stream, and refuses a whole answer, with the error of a run', async () => {
    const doors = await startDoors({}, 'limits: { max_iterations: 1 }');
    try {
      const url = `${doors.gateway.url}/openai/v1/chat/completions`;
      const body = { model, messages: [{ role: 'user', content: 'Look' }] };
      const whole = await post(url, body);
      expect([whole.status, whole.headers.get('x-should-retry')]).toEqual([422, 'false']);
      expect(await whole.json()).toMatchObject({ error: { code: 'max_iterations' } });
      const streamed = await (await post(url, { ...body, stream: true })).text();
      expect(streamed).toMatch(/data: \{"error":\{[^\n]*"max_iterations"/);
      expect(streamed).not.toContain('[DONE]');
    } finally {
      await doors.close();
    }
  });
});
