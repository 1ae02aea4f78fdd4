import { afterEach, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, tool as aiTool, type ToolSet } from 'ai';
import OpenAI from 'openai';
import { ScriptedUpstream, startTestProxy, type TestProxy } from './proxying.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const schema = { type: 'object' as const, properties: { city: { type: 'string' } } };
const names = ['read_file', 'get_weather', 'send_mail'];

/** What Anthropic says of a search that it answered itself, and of the call that follows. */
const said = [
  { type: 'text', text: 'Let me look.' },
  {
    ...{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'tool_search_tool_bm25', caller: { type: 'direct' } },
    input: { query: 'weather of a city' },
  },
  {
    ...{ type: 'tool_search_tool_result', tool_use_id: 'srvtoolu_1' },
    content: {
      type: 'tool_search_tool_search_result',
      tool_references: [{ type: 'tool_reference', tool_name: 'get_weather' }],
    },
  },
  { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Rome' } },
];
const message = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-4-6', content: said },
  ...{ stop_reason: 'tool_use', stop_sequence: null },
  usage: { input_tokens: 10, output_tokens: 5, server_tool_use: { tool_search_requests: 1 } },
};

function messageEvents(): string {
  const events: object[] = [{ type: 'message_start', message: { ...message, content: [], stop_reason: null } }];
  said.forEach((block, index) => {
    const input = (block as { input?: object }).input;
    const start = input === undefined ? block : { ...block, input: {} };
    events.push({ type: 'content_block_start', index, content_block: start });
    const text = JSON.stringify(input ?? {});
    for (const partial of input === undefined ? [] : [text.slice(0, 7), text.slice(7)])
      events.push({
        ...{ type: 'content_block_delta', index },
        delta: { type: 'input_json_delta', partial_json: partial },
      });
    events.push({ type: 'content_block_stop', index });
  });
  events.push(
    {
      ...{ type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null } },
      usage: { output_tokens: 5 },
    },
    { type: 'message_stop' },
  );
  return events.map((one) => `event: ${(one as { type: string }).type}\ndata: ${JSON.stringify(one)}\n\n`).join('');
}

/** The same of OpenAI, with the tools repeated as it received them. */
function response(tools: unknown): object {
  return {
    ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-5.4', status: 'completed', tools },
    output: [
      {
        ...{ type: 'tool_search_call', id: 'tsc_1', call_id: null, execution: 'server', status: 'completed' },
        arguments: { query: 'weather' },
      },
      {
        ...{ type: 'tool_search_output', id: 'tso_1', call_id: null, execution: 'server', status: 'completed' },
        tools: [{ type: 'function', name: 'get_weather', parameters: schema }],
      },
      {
        ...{ type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'get_weather', status: 'completed' },
        arguments: '{"city":"Rome"}',
      },
    ],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    ...{ error: null, incomplete_details: null, parallel_tool_calls: true },
  };
}

async function between(
  api: 'anthropic' | 'openai' | 'bedrock',
  settings = 'native_search: auto',
  proxy = '',
): Promise<{ upstream: ScriptedUpstream; proxy: TestProxy }> {
  const upstream = await ScriptedUpstream.start(({ body, target }, answer) => {
    const asked = JSON.parse(body.toString()) as { stream?: boolean; tools?: unknown };
    if (target.startsWith('/v1/responses')) {
      answer.writeHead(200, { 'content-type': 'application/json' });
      answer.end(JSON.stringify(response(asked.tools)));
      return;
    }
    answer.writeHead(200, { 'content-type': asked.stream === true ? 'text/event-stream' : 'application/json' });
    answer.end(asked.stream === true ? messageEvents() : JSON.stringify(message));
  });
  const started = await startTestProxy(`
pipes: { tool_discovery: { enabled: true, strategy: tool-search, ${settings} } }
proxy: { upstreams: { main: { api: ${api}, url: '${upstream.url}' } } ${proxy} }
`);
  open.push(started, upstream);
  return { upstream, proxy: started };
}

const anthropicTools = names.map((name) => ({ name, description: `It is ${name}`, input_schema: schema }));
const question = 'What is the weather in Rome?';

function askClaude({ url }: TestProxy, stream: boolean, more: object = {}): Promise<unknown> {
  const { messages } = new Anthropic({ apiKey: 'sk-client', baseURL: url, maxRetries: 0 });
  const body = {
    ...{ model: 'claude-opus-4-6', max_tokens: 100, tools: anthropicTools, ...more },
    messages: [{ role: 'user' as const, content: question }],
  };
  return stream ? messages.stream(body).finalMessage() : messages.create(body);
}

const toolsOf = (upstream: ScriptedUpstream, at = 0): readonly Record<string, unknown>[] =>
  upstream.bodies<{ tools: readonly Record<string, unknown>[] }>()[at]?.tools ?? [];

const recordOf = async (proxy: TestProxy): Promise<Record<string, unknown> | undefined> => {
  while (proxy.published.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  return proxy.published[0]?.record as unknown as Record<string, unknown> | undefined;
};

describe.each([true, false])('Anthropic’s own search, streamed: %s', (stream) => {
  it('stands in for the search tool: tools are marked, its answer passes, and the record says what it found (D-40, D-41, D-42, D-43, XB-22)', async () => {
    const { upstream, proxy } = await between('anthropic', 'native_search: auto, always_keep: [read_file]');
    const answer = await askClaude(proxy, stream);
    expect(answer).toMatchObject({ content: said, stop_reason: 'tool_use' });
    expect(upstream.received).toHaveLength(1);
    const [own, ...deferred] = anthropicTools;
    expect(toolsOf(upstream)).toEqual([
      own,
      ...deferred.map((tool) => ({ ...tool, defer_loading: true })),
      { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
    ]);
    expect(upstream.received[0]?.headers['anthropic-beta']).toBe('advanced-tool-use-2025-11-20');
    expect(upstream.received[0]?.body.toString()).not.toContain('gateway_search_tools');
    expect(await recordOf(proxy)).toMatchObject({
      ...{ nativeSearch: 'provider', keptTools: 1, deferredTools: 2, called: ['get_weather'], calledDeferred: 1 },
      searches: [{ query: 'weather of a city', by: 'provider', matched: ['get_weather'] }],
    });
  });
});

describe('Anthropic’s own search', () => {
  it('takes regular expressions where the settings say so, and adds to the client’s own betas (D-41, D-43)', async () => {
    const { upstream, proxy } = await between('anthropic', 'native_search: auto, native_search_kind: regex');
    const { messages } = new Anthropic({ apiKey: 'k', baseURL: proxy.url, maxRetries: 0 });
    await messages.create(
      {
        ...{ model: 'claude-opus-4-6', max_tokens: 9, tools: anthropicTools },
        messages: [{ role: 'user', content: question }],
      },
      { headers: { 'anthropic-beta': 'context-1m-2025-08-07' } },
    );
    expect(toolsOf(upstream).at(-1)).toEqual({
      ...{ type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
    });
    expect(upstream.received[0]?.headers['anthropic-beta']).toBe('context-1m-2025-08-07,advanced-tool-use-2025-11-20');
  });

  it('ends no cache at a tool that is not shown: the mark moves to one that is (D-43, XB-35)', async () => {
    const { upstream, proxy } = await between('anthropic', 'native_search: auto, always_keep: [read_file]');
    const marked = anthropicTools.map((tool, at) =>
      at === 2 ? { ...tool, cache_control: { type: 'ephemeral' as const } } : tool,
    );
    await askClaude(proxy, false, { tools: marked });
    expect(toolsOf(upstream).map((tool) => [tool['name'], tool['defer_loading'], tool['cache_control']])).toEqual([
      ['read_file', undefined, { type: 'ephemeral' }],
      ['get_weather', true, undefined],
      ['send_mail', true, undefined],
      ['tool_search_tool_bm25', undefined, undefined],
    ]);
  });

  it('gives a conversation the same list of tools each time, so that its cache holds (D-43, XB-35)', async () => {
    const { upstream, proxy } = await between('anthropic');
    const first = (await askClaude(proxy, false)) as { content: unknown };
    await askClaude(proxy, false, {
      messages: [
        { role: 'user', content: question },
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Warm.' }] },
      ],
    });
    expect(toolsOf(upstream, 1)).toEqual(toolsOf(upstream, 0));
  });

  it.each([
    ['an older model', 'claude-3-5-sonnet-20241022', 'unsupported_model'],
    ['a model of another', 'glm-4.6', 'unsupported_model'],
  ])(
    'is not requested of %s, which gets the search tool, and the record says so (D-43, XB-22)',
    async (_, model, reason) => {
      const { upstream, proxy } = await between('anthropic');
      await askClaude(proxy, false, { model });
      expect(toolsOf(upstream).map(({ name }) => name)).toEqual(['gateway_search_tools']);
      expect(upstream.received[0]?.headers['anthropic-beta']).toBeUndefined();
      expect(await recordOf(proxy)).toMatchObject({ nativeSearch: reason });
      expect(await proxy.metrics()).toMatch(/discovery_requests_total\{.*outcome="native_unsupported"\} 1/);
    },
  );

  it('is asked of any model where the settings say always, and of none by default', async () => {
    const always = await between('anthropic', 'native_search: always');
    await askClaude(always.proxy, false, { model: 'my-claude' });
    expect(toolsOf(always.upstream)).toHaveLength(4);
    const byDefault = await between('anthropic', 'min_tools: 1');
    await askClaude(byDefault.proxy, false);
    expect(toolsOf(byDefault.upstream).map(({ name }) => name)).toEqual(['gateway_search_tools']);
  });

  it('is not requested where a fallback’s model has none', async () => {
    const models = ', models: { mine: { name: claude-opus-4-5, fallback: [claude-3-haiku] } }';
    const { upstream, proxy } = await between('anthropic', 'native_search: auto', models);
    await askClaude(proxy, false, { model: 'mine' });
    expect(toolsOf(upstream).map(({ name }) => name)).toEqual(['gateway_search_tools']);
  });

  it('is left to a client that has it among its tools: no other is put beside (XB-22)', async () => {
    for (const settings of ['native_search: auto', 'native_search: never']) {
      const { upstream, proxy } = await between('anthropic', settings);
      const own = { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' };
      const tools = [own, ...anthropicTools.map((tool) => ({ ...tool, defer_loading: true }))];
      await askClaude(proxy, false, { tools });
      expect(toolsOf(upstream)).toEqual(tools);
      expect(await recordOf(proxy)).toMatchObject({ bypass: 'own_search' });
    }
  });

  it('goes over Bedrock by InvokeModel, with its word in the body', async () => {
    const { upstream, proxy } = await between('bedrock');
    const body = { anthropic_version: 'bedrock-2023-05-31', max_tokens: 9, tools: anthropicTools, messages: [] };
    const send = (model: string, beta: object): Promise<unknown> =>
      fetch(`${proxy.url}/model/${model}/invoke`, { method: 'POST', body: JSON.stringify({ ...body, ...beta }) });
    await send('eu.anthropic.claude-opus-4-5-20251101-v1:0', { anthropic_beta: ['x'] });
    expect(upstream.bodies()[0]).toMatchObject({ anthropic_beta: ['x', 'tool-search-tool-2025-10-19'] });
    expect(toolsOf(upstream).at(-1)).toMatchObject({ name: 'tool_search_tool_regex' });
    await send('anthropic.claude-3-haiku', {});
    expect(toolsOf(upstream, 1)).toMatchObject([{ name: 'gateway_search_tools' }]);
  });
});

describe('OpenAI’s own search', () => {
  const functions = names.map((name) => ({
    ...{ type: 'function' as const, name, description: `It is ${name}`, parameters: schema, strict: false },
  }));
  it('stands in for the search tool over Responses, and the client reads its own tools in the answer (D-40, XB-22)', async () => {
    const { upstream, proxy } = await between('openai');
    const { responses } = new OpenAI({ apiKey: 'k', baseURL: `${proxy.url}/v1`, maxRetries: 0 });
    const answer = await responses.create({ model: 'gpt-5.4', input: question, tools: functions });
    expect(toolsOf(upstream)).toEqual([
      ...functions.map((tool) => ({ ...tool, defer_loading: true })),
      { type: 'tool_search' },
    ]);
    expect(answer.tools).toEqual(functions);
    expect(answer.output.map(({ type }) => type)).toEqual(['tool_search_call', 'tool_search_output', 'function_call']);
    expect(await recordOf(proxy)).toMatchObject({
      nativeSearch: 'provider',
      searches: [{ query: 'weather', by: 'provider', matched: ['get_weather'] }],
    });
  });

  it.each(['gpt-5.3', 'gpt-5.4-nano', 'gpt-4.1', 'o3'])('is not requested of %s', async (model) => {
    const { upstream, proxy } = await between('openai');
    const { responses } = new OpenAI({ apiKey: 'k', baseURL: `${proxy.url}/v1`, maxRetries: 0 });
    await responses.create({ model, input: question, tools: functions });
    expect(toolsOf(upstream)).toMatchObject([{ name: 'gateway_search_tools' }]);
  });

  it('is not there over Chat Completions, which gets the search tool, and the record says so (D-81)', async () => {
    const { upstream, proxy } = await between('openai');
    const body = {
      ...{ model: 'gpt-5.4', messages: [{ role: 'user', content: question }] },
      tools: functions.map(({ type, strict: _, ...one }) => ({ type, function: one })),
    };
    await fetch(`${proxy.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(body) });
    expect(toolsOf(upstream)).toMatchObject([{ function: { name: 'gateway_search_tools' } }]);
    expect(await recordOf(proxy)).toMatchObject({ nativeSearch: 'unsupported_wire' });
  });
});

describe('vercel’s library', () => {
  const tools = Object.fromEntries(
    names.map((name) => [name, aiTool({ description: name, inputSchema: jsonSchema(schema as never) })]),
  ) as ToolSet;
  it('reads answers with a search that it did not ask for', async () => {
    const claude = await between('anthropic');
    const model = createAnthropic({ baseURL: `${claude.proxy.url}/v1`, apiKey: 'k' })('claude-opus-4-6');
    const first = await generateText({ model, prompt: question, tools, maxRetries: 0 });
    expect(first.toolCalls.map(({ toolName }) => toolName)).toContain('get_weather');
    const gpt = await between('openai');
    const other = createOpenAI({ baseURL: `${gpt.proxy.url}/v1`, apiKey: 'k' }).responses('gpt-5.4');
    const second = await generateText({ model: other, prompt: question, tools, maxRetries: 0 });
    expect(second.toolCalls.map(({ toolName }) => toolName)).toContain('get_weather');
  });
});
