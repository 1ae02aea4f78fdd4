import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ModelRequest, ModelSettings } from '@sluice/core';
import { createModel } from '@sluice/model';
import { requestOf } from './requests.js';
import { anthropic } from './wires/anthropic.js';
import { bedrock } from './wires/bedrock.js';
import { send, startEndpoint } from './wires/endpoint.js';
import type { Endpoint, Received } from './wires/endpoint.js';
import { google } from './wires/google.js';
import { openai } from './wires/openai.js';
import { offered, past } from './wires/past.js';
import type { Wire } from './wires/wire.js';

let endpoint: Endpoint;
beforeEach(async () => {
  endpoint = await startEndpoint();
});
afterEach(() => endpoint.close());

/** What the endpoint receives for the request, once more for each time. */
async function sent(wire: Wire, request: ModelRequest, more: Partial<ModelSettings> = {}): Promise<Received> {
  endpoint.respond = async (response) => {
    response.writeHead(200, { 'content-type': wire.contentType });
    await send(response, wire.encode({ text: ['ok'] }));
    response.end();
  };
  const common = { baseUrl: endpoint.url, apiKeyEnv: null, region: null, maxOutputTokens: 256 };
  const settings: ModelSettings = { ...common, ...wire.settings, ...more };
  const model = await createModel(settings, {
    secret: (variable) => (variable === 'AWS_SESSION_TOKEN' ? undefined : 'the-key'),
  });
  await model.turn(request, { signal: new AbortController().signal });
  const received = endpoint.received.at(-1);
  if (received === undefined) throw new Error('The endpoint received nothing.');
  return received;
}

const request = requestOf({ instructions: 'Be brief.', question: 'Who?', tools: offered, history: past });
const toolsOf = ({ body }: Received) => (body as { tools: { name: string; cache_control?: object }[] }).tools;

describe('prompt caching of definitions (D-49)', () => {
  it('marks the end of tools and instructions for Anthropic, once', async () => {
    const whole = await sent(anthropic, request);
    expect((whole.body as { system: object[] }).system).toEqual([
      { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
    ]);
    expect(toolsOf(whole).filter((tool) => 'cache_control' in tool)).toEqual([]);
    const bare = await sent(anthropic, { ...request, instructions: '' });
    expect(toolsOf(bare).map((tool) => tool.cache_control)).toEqual([
      ...offered.slice(1).map(() => undefined),
      { type: 'ephemeral' },
    ]);
  });

  it('marks it for models of Bedrock that have a cache, and for no other wire, which cache by themselves', async () => {
    const name = 'anthropic.claude-sonnet-4-20250514-v1:0';
    const { body } = await sent(bedrock, request, { name });
    expect(JSON.stringify(body)).toContain('"cachePoint":{"type":"default"}');
    for (const wire of [openai, google])
      expect(JSON.stringify((await sent(wire, request)).body)).not.toMatch(/cache_control|cachePoint/);
  });

  it('marks the history where a later turn begins: the last two messages of the user, and none without tools', async () => {
    const { body } = await sent(anthropic, request);
    const { messages } = body as { messages: { role: string; content: { cache_control?: object }[] }[] };
    const marked = messages.flatMap(({ role, content }, at) =>
      content.some((block) => block.cache_control !== undefined) ? [[role, at]] : [],
    );
    const users = messages.flatMap(({ role }, at) => (role === 'user' ? [[role, at]] : []));
    expect(marked).toEqual(users.slice(-2));
    expect(messages.at(-1)?.content.at(-1)?.cache_control).toEqual({ type: 'ephemeral' });
    const single = await sent(anthropic, requestOf({ instructions: 'Be brief.', toolChoice: { type: 'none' } }));
    expect(JSON.stringify((single.body as { messages: object }).messages)).not.toContain('cache_control');
    const converse = await sent(bedrock, request, { name: 'anthropic.claude-sonnet-4-20250514-v1:0' });
    const points = (converse.body as { messages: { content: object[] }[] }).messages.filter(({ content }) =>
      content.some((block) => 'cachePoint' in block),
    );
    expect(points).toHaveLength(2);
  });

  it('has the same beginning in each turn of a run: tools in one order, then the instructions (XB-35)', async () => {
    const first = await sent(anthropic, { ...request, history: [] });
    const later = await sent(anthropic, request);
    const prefix = ({ body }: Received) =>
      JSON.stringify([(body as { tools: object }).tools, (body as { system: object }).system]);
    expect(prefix(later)).toBe(prefix(first));
  });
});

describe('token-efficient calls (D-51)', () => {
  it('are asked of Anthropic by a header where model.betas names them, and not otherwise', async () => {
    const betas = ['token-efficient-tools-2025-02-19', 'another'];
    expect((await sent(anthropic, request, { betas })).headers['anthropic-beta']).toBe(betas.join(','));
    expect((await sent(anthropic, request)).headers['anthropic-beta']).toBeUndefined();
  });
});
