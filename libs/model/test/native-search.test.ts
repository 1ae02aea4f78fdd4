import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ModelRequest, ModelSettings, ModelTool } from '@sluice/core';
import { createModel, nativeSearches } from '@sluice/model';
import { requestOf, stepOf } from './requests.js';
import { anthropic } from './wires/anthropic.js';
import { send, startEndpoint, type Endpoint } from './wires/endpoint.js';
import { openaiResponses } from './wires/openai-responses.js';
import type { Wire } from './wires/wire.js';

const tool = (id: string): ModelTool => ({ id, description: id, inputSchema: { type: 'object' } });
const settings = { when: 'auto', kind: 'bm25' } as const;
const searched = { settings, tools: [tool('core__hidden')] };
const never = new AbortController().signal;

interface Body {
  readonly tools: readonly Readonly<Record<string, unknown>>[];
  readonly messages: readonly { readonly content: readonly { readonly type: string }[] }[];
}

let endpoint: Endpoint;
beforeEach(async () => {
  endpoint = await startEndpoint();
});
afterEach(() => endpoint.close());

async function sent(wire: Wire, name: string, request: Partial<ModelRequest>): Promise<Body> {
  endpoint.respond = async (response) => {
    response.writeHead(200, { 'content-type': wire.contentType });
    await send(response, wire.encode({ text: ['ok'] }));
    response.end();
  };
  const given: ModelSettings = { ...settingsOf(wire, name), baseUrl: endpoint.url };
  const model = await createModel(given, { secret: () => 'key' });
  await model.turn(requestOf({ tools: [tool('core__shown')], ...request }), { signal: never });
  return endpoint.received.at(-1)?.body as unknown as Body;
}

function settingsOf(wire: Wire, name: string): ModelSettings {
  const none = { baseUrl: null, apiKeyEnv: null, region: null, maxOutputTokens: null };
  return { ...none, ...wire.settings, name } as ModelSettings;
}

describe('a provider’s own search of tools', () => {
  it('gets OpenAI’s deferred tools beside those that are shown', async () => {
    const { tools } = await sent(openaiResponses, 'gpt-5.4', { searched });
    expect(tools).toMatchObject([
      { name: 'core__shown' },
      { name: 'core__hidden', defer_loading: true },
      { type: 'tool_search' },
    ]);
    expect(tools[0]).not.toHaveProperty('defer_loading');
  });

  it('gets nothing where the model has none: what would be deferred is left out (D-43b)', async () => {
    const { tools } = await sent(openaiResponses, 'gpt-4.1', { searched });
    expect(tools.map(({ name }) => name)).toEqual(['core__shown']);
    expect(JSON.stringify(tools)).not.toContain('defer_loading');
  });

  it('is repeated its finds only while they are among the tools: it refuses others', async () => {
    const blocks = [
      { type: 'server_tool_use', id: 's', name: 'tool_search_tool_bm25', input: { query: 'q' } },
      { type: 'tool_search_tool_result', tool_use_id: 's', content: { tool_references: [] } },
    ].map((block) => ({ kind: block.type, raw: JSON.stringify(block) }));
    const from = `anthropic/claude-opus-4-6 at ${endpoint.url}`;
    const kept = (found: string): string =>
      JSON.stringify({ from, before: [{ type: 'search', blocks, found: [found] }] });
    const said = async (found: string, more: Partial<ModelRequest>): Promise<readonly string[]> => {
      const history = [stepOf({ toolId: 'core__shown', providerData: kept(found) })];
      const { messages } = await sent(anthropic, 'claude-opus-4-6', { history, ...more });
      return messages[1]?.content.map(({ type }) => type) ?? [];
    };
    const found = ['server_tool_use', 'tool_search_tool_result', 'tool_use'];
    expect(await said('core__hidden', { searched })).toEqual(found);
    expect(await said('core__gone', { searched })).toEqual(['tool_use']);
    expect(await said('core__shown', {})).toEqual(['tool_use']);
  });

  it('is there where all models of a configuration have it', async () => {
    const { nativeSearchOfAll } = await nativeSearches();
    const [claude, gpt] = [settingsOf(anthropic, 'claude-opus-4-6'), settingsOf(openaiResponses, 'gpt-4.1')];
    expect(nativeSearchOfAll([claude], settings)).toMatchObject({ betaHeader: 'advanced-tool-use-2025-11-20' });
    expect(nativeSearchOfAll([claude, gpt], settings)).toBe('unsupported_model');
    expect(nativeSearchOfAll([{ ...claude, provider: 'rules' }], settings)).toBe('unsupported_wire');
  });
});
