import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { decodeRequest, encodeTurn, JsonSpan, type Turn, type TurnPart } from '@sluice/wires';
import { ScriptedUpstream, startTestProxy } from './proxying.js';
import { call, searchCall, searchName, text, usage } from './scripted-model.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

interface ChatTool {
  readonly function: { readonly name: string; readonly description: string; readonly parameters: object };
}
const { tools: listed } = { tools: JSON.parse(readFileSync('examples/discovery/tools.json', 'utf8')) as ChatTool[] };
const tools = listed.map(({ function: { name, description, parameters } }, at) => ({
  ...{ name, description, input_schema: parameters },
  // Clients let a cache end behind their last tool.
  ...(at === listed.length - 1 ? { cache_control: { type: 'ephemeral' } } : {}),
}));
const model = 'claude-opus-4-6';

/** A conversation of two questions, each with one call of a tool. */
const asked = [
  ['What is the weather in Oslo?', 'get_weather', { city: 'Oslo' }],
  ['Send it to Ann in an email, please', 'send_email', { to: 'ann' }],
] as const;

/** The list of tools of each request that the model gets, as text. */
async function listsOf(settings: string): Promise<readonly string[]> {
  const upstream = await ScriptedUpstream.start(({ body }, answer) => {
    const request = decodeRequest('anthropic', body.toString());
    const [, wanted, args] = asked[request.query === asked[0][0] ? 0 : 1];
    const last = request.messages.at(-1)?.parts.at(-1);
    const shown = request.tools.map(({ name }) => name);
    const isDone = last?.type === 'result' && last.toolCallId === `id-${wanted}`;
    const searches = shown.includes(searchName) && !shown.includes(wanted);
    const part: TurnPart = isDone ? text('Done.') : searches ? searchCall(wanted, `s-${wanted}`) : call(wanted, args);
    const turn: Turn = { id: 'm', model, parts: [part], finish: part.type === 'call' ? 'calls' : 'stop', usage };
    answer.writeHead(200, { 'content-type': 'application/json' });
    answer.end(encodeTurn('anthropic', turn, 0).body);
  });
  const proxy = await startTestProxy(`
pipes: { tool_discovery: { enabled: true, ${settings} } }
proxy: { upstreams: { main: { api: anthropic, url: '${upstream.url}' } } }
`);
  open.push(proxy, upstream);
  const messages: object[] = [];
  for (const [question] of asked) {
    messages.push({ role: 'user', content: [{ type: 'text', text: question }] });
    for (let isOver = false; !isOver;) {
      const body = JSON.stringify({ model, max_tokens: 100, tools, messages });
      const answered = await fetch(`${proxy.url}/v1/messages`, { method: 'POST', body });
      const { content } = (await answered.json()) as { content: { type: string; id: string }[] };
      messages.push({ role: 'assistant', content });
      const results = content.flatMap(({ type, id }) =>
        type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'Done.' }] : [],
      );
      isOver = results.length === 0;
      if (!isOver) messages.push({ role: 'user', content: results });
    }
  }
  return upstream.received.map(({ body }) => JsonSpan.of(body.toString()).member('tools')?.source ?? '');
}

const isShown = (tool: JsonSpan): boolean => tool.member('defer_loading') === undefined;

/** What a cache goes by: the tools that are shown, without the marks where it ends. */
const shownIn = (list: string): readonly string[] =>
  JsonSpan.of(list)
    .items.filter(isShown)
    .map(({ source }) => source.replace(',"cache_control":{"type":"ephemeral"}', ''));

/** How many of a request’s lists begin with all of the list before, so that what is cached of it is read again. */
function row(name: string, lists: readonly string[]): string {
  const bytes = lists.map((list) => shownIn(list).join('').length);
  const isRead = lists.slice(1).map((list, at) => {
    const [before, now] = [shownIn(lists[at] ?? ''), shownIn(list)];
    return before.length === now.length && before.every((tool, index) => tool === now[index]);
  });
  const sum = bytes.reduce((total, one) => total + one, 0);
  return `| ${name} | ${String(lists.length)} | ${String(sum)} | ${String(isRead.filter(Boolean).length)} of ${String(isRead.length)} |`;
}

const strategies: readonly (readonly [name: string, settings: string])[] = [
  ['`passthrough`', 'strategy: passthrough'],
  ['`relevance`', 'strategy: relevance, max_tools: 10'],
  ['`ranked`', 'strategy: ranked, max_tools: 10'],
  ['`ranked` with the search tool', 'strategy: ranked, max_tools: 10, enable_search_fallback: true'],
  ['`tool-search`', 'strategy: tool-search'],
  ['`tool-search`, `native_search: auto`', 'strategy: tool-search, native_search: auto'],
];

describe('a provider’s cache of the prompt', () => {
  const page = readFileSync('docs/discovery.md', 'utf8');

  it.each(strategies)('under %s is left as the page says (XB-35)', async (name, settings) => {
    expect(page.split('\n')).toContain(row(name, await listsOf(settings)));
  });

  it.each(strategies.slice(1))('under %s ends at one tool, the last that is shown (XB-35)', async (_, settings) => {
    for (const list of await listsOf(settings)) {
      const { items } = JsonSpan.of(list);
      const marked = items.flatMap((tool, at) => (tool.member('cache_control') === undefined ? [] : [at]));
      const kept = items.flatMap((tool, at) => (isShown(tool) && isOwn(tool) ? [at] : []));
      expect(marked).toHaveLength(1);
      if (kept.length > 0 && !list.includes(searchName)) expect(marked).toEqual([kept.at(-1)]);
    }
  });

  it.each(strategies.slice(1))(
    'under %s has each kept tool to the byte, in the client’s order (XB-35)',
    async (_, settings) => {
      const own = tools.map((tool) => JSON.stringify({ ...tool, cache_control: undefined }));
      for (const list of await listsOf(settings)) {
        const kept = shownIn(list).filter((source) => isOwn(JsonSpan.of(source)));
        const places = kept.map((source) => own.indexOf(source));
        expect(places).not.toContain(-1);
        if (!list.includes(searchName)) expect(places).toEqual(places.toSorted((one, other) => one - other));
      }
    },
  );
});

function isOwn(tool: JsonSpan): boolean {
  const name = tool.member('name')?.string ?? '';
  return name !== searchName && !name.startsWith('tool_search_tool_');
}
