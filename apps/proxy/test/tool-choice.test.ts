import { afterEach, describe, expect, it } from '@jest/globals';
import { ScriptedUpstream, startTestProxy } from './proxying.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const names = ['read_file', 'get_weather', 'send_mail', 'list_pods', 'play_song', 'open_door'];
const described = names.map((name) => ({ name, description: `${name.replace('_', ' ')} for the user` }));
const parameters = { type: 'object', properties: { x: { type: 'string' } } };
const responses = described.map((one) => ({ type: 'function', ...one, parameters }));
const chat = described.map((one) => ({ type: 'function', function: { ...one, parameters } }));
const anthropic = described.map((one) => ({ ...one, input_schema: parameters }));
const asked = 'What is the weather in Oslo?';
const messages = [{ role: 'user', content: asked }];
const allowed = ['send_mail', 'play_song'];
const ofResponses = (tools: readonly object[]) => ({ type: 'allowed_tools', mode: 'required', tools });
const ofChat = (tools: readonly object[]) => ({ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools } });

/** What is asked, and the tools that the model gets beside those that are chosen by the question. */
const cases: readonly (readonly [what: string, path: string, body: object, stays: readonly string[]])[] = [
  [
    'allowed_tools of Responses',
    '/v1/responses',
    { input: asked, tools: responses, tool_choice: ofResponses(allowed.map((name) => ({ type: 'function', name }))) },
    allowed,
  ],
  [
    'allowed_tools of Responses, hosted ones among them',
    '/v1/responses',
    {
      ...{ input: asked, tools: [...responses, { type: 'web_search' }] },
      tool_choice: ofResponses([{ type: 'web_search' }, { type: 'function', name: 'send_mail' }]),
    },
    ['send_mail', '<web_search>'],
  ],
  [
    'allowed_tools of chat completions',
    '/v1/chat/completions',
    { messages, tools: chat, tool_choice: ofChat(allowed.map((name) => ({ type: 'function', function: { name } }))) },
    allowed,
  ],
  [
    'a tool by its name, of chat completions',
    '/v1/chat/completions',
    { messages, tools: chat, tool_choice: { type: 'function', function: { name: 'open_door' } } },
    ['open_door'],
  ],
  [
    'a tool by its name, of Responses',
    '/v1/responses',
    { input: asked, tools: responses, tool_choice: { type: 'function', name: 'open_door' } },
    ['open_door'],
  ],
  [
    'a tool by its name, of Anthropic',
    '/v1/messages',
    { messages, max_tokens: 9, tools: anthropic, tool_choice: { type: 'tool', name: 'open_door' } },
    ['open_door'],
  ],
  [
    'server tools of Anthropic',
    '/v1/messages',
    {
      ...{ messages, max_tokens: 9 },
      tools: [
        ...anthropic,
        { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
        { type: 'bash_20250124', name: 'bash' },
      ],
    },
    ['web_search', 'bash'],
  ],
  [
    'hosted and custom tools of Responses',
    '/v1/responses',
    {
      input: asked,
      tools: [
        ...responses,
        { type: 'web_search' },
        { type: 'mcp', server_label: 'wiki', server_url: 'https://wiki.example.test/mcp' },
        { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
        { type: 'namespace', name: 'crm', tools: [{ type: 'function', name: 'get_customer', parameters }] },
      ],
    },
    ['<web_search>', '<mcp>', 'apply_patch', 'crm'],
  ],
];

async function sentTools(strategy: string, path: string, body: object): Promise<readonly string[]> {
  const upstream = await ScriptedUpstream.start((_, response) => void response.writeHead(400).end('{}'));
  const proxy = await startTestProxy(`
pipes: { tool_discovery: { enabled: true, strategy: ${strategy}, min_tools: 1, max_tools: 1 } }
proxy: { upstreams: { chat: { api: openai, url: '${upstream.url}' }, claude: { api: anthropic, url: '${upstream.url}' } } }
`);
  open.push(proxy, upstream);
  const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
  const api = path === '/v1/messages' ? headers : { 'content-type': headers['content-type'] };
  await fetch(proxy.url + path, { method: 'POST', headers: api, body: JSON.stringify({ model: 'm', ...body }) });
  const [got] = upstream.bodies<{ tools: { name?: string; type?: string; function?: { name: string } }[] }>();
  return (got?.tools ?? []).map((tool) => tool.function?.name ?? tool.name ?? `<${String(tool.type)}>`);
}

describe('a request whose choice names tools, or that has tools of its provider', () => {
  it.each(cases)('keeps them under ranked: %s', async (_, path, body, stays) => {
    const sent = await sentTools('ranked', path, body);
    expect(sent.toSorted()).toEqual(['get_weather', ...stays].toSorted());
  });

  it.each(cases)('keeps them under tool-search: %s', async (what, path, body, stays) => {
    const sent = await sentTools('tool-search', path, body);
    // Where others may not be called, a search could not be called either.
    const search = what.startsWith('allowed_tools') ? [] : ['gateway_search_tools'];
    expect(sent.toSorted()).toEqual([...search, ...stays].toSorted());
  });

  it('passes unchanged where it allows no function of the request', async () => {
    const body = { input: asked, tools: responses, tool_choice: ofResponses([{ type: 'function', name: 'unknown' }]) };
    expect(await sentTools('tool-search', '/v1/responses', body)).toEqual(names);
  });
});
