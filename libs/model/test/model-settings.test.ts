import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ModelRequest, ModelSettings } from '@sluice/core';
import { createModel } from '@sluice/model';
import { requestOf, stepOf } from './requests.js';
import { anthropic } from './wires/anthropic.js';
import { bedrock } from './wires/bedrock.js';
import { send, startEndpoint } from './wires/endpoint.js';
import type { Endpoint, Received } from './wires/endpoint.js';
import { google } from './wires/google.js';
import { openai } from './wires/openai.js';
import { openaiResponses } from './wires/openai-responses.js';
import { offered } from './wires/past.js';
import type { Wire } from './wires/wire.js';

let endpoint: Endpoint;
beforeEach(async () => {
  endpoint = await startEndpoint();
});
afterEach(() => endpoint.close());

type Variables = Readonly<Record<string, string>>;

async function sent(
  wire: Wire,
  more: Partial<ModelSettings>,
  { request = requestOf({ tools: offered }), variables = {} }: { request?: ModelRequest; variables?: Variables } = {},
): Promise<Received> {
  endpoint.respond = async (response) => {
    response.writeHead(200, { 'content-type': wire.contentType });
    await send(response, wire.encode({ text: ['ok'] }));
    response.end();
  };
  const common = { baseUrl: endpoint.url, apiKeyEnv: 'KEY', region: 'eu-central-1', maxOutputTokens: 4_096 };
  const model = await createModel(
    { ...common, ...wire.settings, ...more },
    { secret: (variable) => variables[variable] ?? (/PROXY$|SESSION/i.test(variable) ? undefined : 'the-key') },
  );
  await model.turn(request, { signal: new AbortController().signal });
  const received = endpoint.received.at(-1);
  if (received === undefined) throw new Error('The endpoint received nothing.');
  return received;
}

const wires = { openai, openaiResponses, anthropic, google, bedrock };
const common = { temperature: 0.5, topP: 0.9 };

describe('settings of a model', () => {
  it.each<[keyof typeof wires, Partial<ModelSettings>, object]>([
    [
      'openai',
      { ...common, stop: ['END'], seed: 7, reasoningEffort: 'low' },
      { temperature: 0.5, top_p: 0.9, stop: ['END'], seed: 7, reasoning_effort: 'low' },
    ],
    [
      'openaiResponses',
      { ...common, reasoningEffort: 'high' },
      { temperature: 0.5, top_p: 0.9, reasoning: { effort: 'high' } },
    ],
    ['anthropic', { ...common, stop: ['END'] }, { temperature: 0.5, top_p: 0.9, stop_sequences: ['END'] }],
    ['anthropic', { thinkingTokens: 2_000 }, { thinking: { type: 'enabled', budget_tokens: 2_000 } }],
    [
      'google',
      { ...common, stop: ['END'], seed: 7, thinkingTokens: 0 },
      {
        generationConfig: expect.objectContaining({
          ...common,
          stopSequences: ['END'],
          seed: 7,
          thinkingConfig: { thinkingBudget: 0 },
        }),
      },
    ],
    [
      'bedrock',
      { ...common, stop: ['END'] },
      { inferenceConfig: { maxTokens: 4_096, ...common, stopSequences: ['END'] } },
    ],
    [
      'bedrock',
      { thinkingTokens: 2_000 },
      { additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2_000 } } },
    ],
  ])('go over the wire %s in its words', async (name, settings, body) => {
    expect((await sent(wires[name], settings)).body).toMatchObject(body);
  });

  it.each(Object.entries(wires))('are not named to %s where none is written', async (_, wire) => {
    const { body } = await sent(wire, {});
    expect(JSON.stringify(body)).not.toMatch(/temperature|top_?p"|stop|seed|effort|thinking/i);
  });

  it('leave thinking out where Anthropic refuses it: a chosen tool, or calls of another model in the turn that goes on', async () => {
    const thinking = { thinkingTokens: 2_000 };
    const chosen = requestOf({ tools: offered, toolChoice: { type: 'required' } });
    const others = requestOf({ tools: offered, history: [stepOf({ toolId: offered[0]?.id ?? '' })] });
    for (const request of [chosen, others])
      for (const wire of [anthropic, bedrock])
        expect(JSON.stringify((await sent(wire, thinking, { request })).body)).not.toContain('budget_tokens');
  });

  it('add headers beside Sluice’s own', async () => {
    const { headers } = await sent(anthropic, { headers: { 'x-team': 'search' } });
    expect(headers).toMatchObject({ 'x-team': 'search', 'x-api-key': 'the-key' });
  });

  it.each([openai, openaiResponses])(
    'name the version of Azure’s API in the address, and send its key as it wants',
    async (wire) => {
      const { path, headers } = await sent(wire, { apiVersion: '2024-10-21' });
      expect(path).toMatch(/\?api-version=2024-10-21$/);
      expect(headers['api-key']).toBe('the-key');
      expect(headers['authorization']).toBeUndefined();
    },
  );
});

describe('a proxy of the network', () => {
  it('is used for models where a variable names it, but for hosts of NO_PROXY', async () => {
    const through: string[] = [];
    const sockets = new Set<Socket>();
    const server = createServer((request, response) => {
      through.push(request.url ?? '');
      response.writeHead(502).end();
    });
    server.on('connect', (request, socket: Socket) => {
      through.push(request.url ?? '');
      const [host, port] = (request.url ?? '').split(':');
      const onward = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        onward.pipe(socket);
        socket.pipe(onward);
      });
      for (const one of [socket, onward]) {
        sockets.add(one);
        one.on('error', () => undefined);
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const proxy = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    await sent(openai, {}, { variables: { HTTP_PROXY: proxy } });
    expect(through).toEqual([new URL(endpoint.url).host]);
    await sent(openai, {}, { variables: { HTTP_PROXY: proxy, NO_PROXY: '127.0.0.1' } });
    expect(through).toHaveLength(1);
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});
