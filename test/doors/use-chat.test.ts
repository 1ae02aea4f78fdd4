import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import type { UIMessage } from 'ai';
import { eventually } from '../harness/eventually.js';
import { post } from '../gateway/over-http.js';
import { startDoors } from './with-doors.js';
import type { DoorSystem } from './with-doors.js';

type Json = Readonly<Record<string, unknown>>;

const said = ({ parts }: UIMessage): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');

describe('a run as a UI message stream', () => {
  let doors: DoorSystem;
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  beforeAll(async () => {
    doors = await startDoors({}, 'limits: { max_iterations: 2 }', held);
  });
  afterAll(async () => {
    release();
    await doors.close();
  });

  /** As docs/bring-your-agent.md has it. */
  const chat = (id = 'a chat'): Chat<UIMessage> =>
    new Chat({
      id,
      transport: new DefaultChatTransport({
        api: `${doors.gateway.url}/v1/runs?stream_format=ui-message`,
        prepareSendMessagesRequest: ({ messages }) => ({
          body: {
            question: said(messages.at(-1) as UIMessage),
            conversation: messages.slice(0, -1).map((one) => ({ role: one.role, text: said(one) })),
            group: ['*'],
          },
        }),
      }),
    });
  const asked = async (text: string): Promise<Chat<UIMessage>> => {
    const one = chat();
    await one.sendMessage({ text });
    return one;
  };

  it('is read by useChat: texts, calls with their results, the iterations', async () => {
    const { messages, status, error } = await asked('Look');
    expect([status, error]).toEqual(['ready', undefined]);
    const answer = messages.at(-1) as UIMessage;
    expect(answer.metadata).toMatchObject({ request_id: answer.id, usage: { inputTokens: 2, outputTokens: 2 } });
    expect(answer.parts.map(({ type }) => type)).toEqual([
      ...['step-start', 'data-iteration', 'text', 'dynamic-tool'],
      ...['step-start', 'data-iteration', 'text'],
    ]);
    expect(answer.parts.find(({ type }) => type === 'dynamic-tool')).toMatchObject({
      ...{ state: 'output-available', toolName: 'core__knowledge-query', providerExecuted: true },
      ...{ input: { sparql: expect.any(String) }, toolMetadata: { outcome: 'ok' } },
    });
    expect(said(answer)).toBe('I look.Found.');
  });

  it('is the same when it is read later', async () => {
    const first = (await asked('Look')).messages.at(-1) as UIMessage;
    const { since, token } = first.metadata as { readonly since: number; readonly token: string };
    const url = `${doors.gateway.url}/v1/runs/${first.id}?since=${since}&token=${token}&stream_format=ui-message`;
    const again = new Chat({
      transport: new DefaultChatTransport({ prepareReconnectToStreamRequest: () => ({ api: url }) }),
    });
    await again.resumeStream();
    expect(again.messages.at(-1)?.parts).toEqual(first.parts);
  });

  it('shows an error of the run, with its code', async () => {
    const { status, error, messages } = await asked('Reset');
    expect([status, error?.message]).toEqual(['error', expect.stringContaining('iterations')]);
    expect(messages.at(-1)?.metadata).toMatchObject({ error: { code: 'max_iterations' } });
  });

  it('goes on in the same chat, behind an error too', async () => {
    const one = await asked('Reset');
    await one.sendMessage({ text: 'Look' });
    expect([one.status, said(one.messages.at(-1) as UIMessage)]).toEqual(['ready', 'I look.Found.']);
    expect(doors.model.asked.at(-1)?.conversation).toEqual([
      { role: 'user', text: 'Reset' },
      { role: 'assistant', text: '' },
    ]);
  });

  it('names the formats there are', async () => {
    const response = await post(`${doors.gateway.url}/v1/runs?stream_format=xml`, { question: 'Look' });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { detail: 'stream_format must be one of assistant-transport, ui-message.' },
    ]);
  });

  it('keeps the wire of the protocol', async () => {
    const response = await post(`${doors.gateway.url}/v1/runs?stream_format=ui-message`, { question: 'Hi' });
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    const lines = (await response.text()).split('\n\n').filter((line) => line !== '');
    expect(lines.at(-1)).toBe('data: [DONE]');
    const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.slice('data: '.length)) as Json);
    expect(chunks.map(({ type }) => type)).toEqual([
      ...['start', 'start-step', 'data-iteration', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish'],
    ]);
  });

  it('ends as stopped where the run is cancelled', async () => {
    const one = chat();
    const sent = one.sendMessage({ text: 'Wait' });
    const { id, metadata } = (await eventually(
      () => one.messages.at(-1),
      (message) => message?.metadata !== undefined,
    )) as UIMessage;
    const { since, token } = metadata as { readonly since: number; readonly token: string };
    const query = new URLSearchParams({ since: String(since), token, session_id: id });
    const { status } = await post(`${doors.gateway.url}/v1/runs/${id}/cancel?${query.toString()}`, {
      reason: 'Enough.',
    });
    expect(status).toBe(202);
    await sent;
    expect([one.status, one.error, said(one.messages.at(-1) as UIMessage)]).toEqual(['ready', undefined, '']);
  });
});
