import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { SearchLoop } from '@sluice/proxy';
import { decodeRequest, encodeTurn } from '@sluice/wires';
import { ScriptedUpstream, startTestProxy, type TestProxy } from './proxying.js';
import { getWithHost } from '../../../test/gateway/over-http.js';
import { call, searchCall, searchName, text, usage } from './scripted-model.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const toolOf = (name: string, more: object = { description: `Does ${name}` }): object => ({
  type: 'function',
  function: { name, ...more, parameters: { type: 'object', properties: {} } },
});
const bodyOf = (tools: readonly unknown[], question = `Weather? ${String(Math.random())}`): string =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content: question }], tools });

/** A model that searches with the query as long as it can, else answers. */
async function proxied(pipe: string, query = 'weather'): Promise<{ upstream: ScriptedUpstream; proxy: TestProxy }> {
  const upstream = await ScriptedUpstream.start(({ body }, response) => {
    const searches = body.includes(searchName) && !body.includes('"role":"tool"');
    const parts = [searches ? searchCall(query) : text('Hello.')];
    const turn = { id: 't', model: 'm', parts, finish: searches ? 'calls' : 'stop', usage } as const;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(encodeTurn('openai-chat', turn, 0).body);
  });
  const proxy = await startTestProxy(`
pipes: { tool_discovery: { enabled: true, ${pipe} } }
proxy: { upstreams: { main: { api: openai, url: '${upstream.url}' } } }
`);
  open.push(proxy, upstream);
  return { upstream, proxy };
}

async function ask(proxy: TestProxy, body: string): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    authorization: 'Bearer sk-of-the-client',
    'x-api-key': 'sk-other',
  };
  const response = await fetch(`${proxy.url}/v1/chat/completions`, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
}

const relevance = 'strategy: relevance, min_tools: 1, max_tools: 3';
const search = 'strategy: tool-search';

describe('a request that is odd', () => {
  it('gets nothing where a page brought its name to this address (DNS rebinding)', async () => {
    const { upstream, proxy } = await proxied(relevance);
    const { status, body } = await getWithHost('evil.example:8092', `${proxy.url}/v1/models`);
    expect([status, upstream.received.length]).toEqual([401, 0]);
    expect(body).toContain('SLUICE_ALLOWED_HOSTS');
    await getWithHost('localhost:8092', `${proxy.url}/v1/models`);
    expect(upstream.received).toHaveLength(1);
  });

  it.each([
    ['no JSON', '{"model": "m", "tools": ['],
    ['a list', '[1,2]'],
    ['tools that are no list', '{"model":"m","messages":[{"role":"user","content":"x"}],"tools":{"a":1}}'],
    ['tools that are no objects', bodyOf([1, null, 'x'])],
    ['a tool without a name', bodyOf([{ type: 'function', function: {} }])],
    ['messages that are no list', '{"model":"m","messages":"x","tools":[]}'],
    ['a tool with the search tool’s name', bodyOf([toolOf('a'), toolOf(searchName)])],
    ['a lone surrogate in a tool’s text', bodyOf([toolOf('a')]).replace('Does a', '\\ud800')],
  ])('passes with every byte: %s', async (_, body) => {
    const { upstream, proxy } = await proxied(body.includes(searchName) ? search : relevance);
    expect(await ask(proxy, body)).toBe(200);
    expect(upstream.received[0]?.body.toString()).toBe(body);
  });

  it.each([relevance, search])('passes with every byte where it cannot be rewritten, under %s', async (pipe) => {
    const { upstream, proxy } = await proxied(pipe);
    const rewriting = jest.spyOn(SearchLoop.prototype, 'request').mockImplementation(() => {
      throw new Error('no place for the tools');
    });
    const body = bodyOf(Array.from({ length: 10 }, (_, at) => toolOf(`tool_${String(at)}`)));
    try {
      expect(await ask(proxy, body)).toBe(200);
      expect(rewriting).toHaveBeenCalled();
    } finally {
      rewriting.mockRestore();
    }
    expect(upstream.received.map(({ body: sent }) => sent.toString())).toEqual([body]);
    open.splice(open.indexOf(proxy), 1);
    await proxy.close();
    expect(proxy.lines()).toContain('no place for the tools');
    expect(proxy.published.map(({ record }) => record)).toMatchObject([
      { bypass: 'failed', totalTools: 10, keptTools: 10, deferredTools: 0 },
    ]);
  });

  it.each([relevance, search])('may name a tool twice and describe none, under %s', async (pipe) => {
    const { upstream, proxy } = await proxied(pipe, 'one');
    const body = bodyOf([
      toolOf('one', {}),
      toolOf('one', { description: 'again' }),
      toolOf('two', {}),
      toolOf('three', {}),
    ]);
    expect(await ask(proxy, body)).toBe(200);
    for (const { body: sent } of upstream.received)
      expect(() => decodeRequest('openai-chat', sent.toString())).not.toThrow();
    expect(proxy.lines()).not.toContain('could not handle');
  });

  it.each([relevance, search, 'strategy: ranked'])('may have 5,000 tools, under %s', async (pipe) => {
    const { upstream, proxy } = await proxied(pipe, 'tool_4999');
    expect(await ask(proxy, bodyOf(Array.from({ length: 5_000 }, (_, at) => toolOf(`tool_${String(at)}`))))).toBe(200);
    const last = decodeRequest('openai-chat', upstream.received.at(-1)?.body.toString() ?? '');
    expect(last.tools.length).toBeLessThanOrEqual(25);
  });

  it('may be of 20 MB, of which the tools are chosen all the same', async () => {
    const { upstream, proxy } = await proxied(relevance);
    const tools = Array.from({ length: 10 }, (_, at) => toolOf(`tool_${String(at)}`));
    const history = JSON.stringify({ role: 'system', content: 'x'.repeat(20 << 20) });
    const body = bodyOf(tools, 'Ask tool_7').replace('"messages":[', () => `"messages":[${history},`);
    expect(await ask(proxy, body)).toBe(200);
    const sent = decodeRequest('openai-chat', upstream.received[0]?.body.toString() ?? '');
    expect(sent.tools.map(({ name }) => name)).toContain('tool_7');
    expect(sent.tools.length).toBeLessThanOrEqual(3);
  });
});

describe('a book for a question', () => {
  it.each([relevance, 'strategy: ranked, min_tools: 1, target_ratio: 0.4', search])(
    'holds up no other request, and is asked for by its beginning and its end: %s',
    async (pipe) => {
      const { upstream, proxy } = await proxied(pipe);
      const tools = Array.from({ length: 500 }, (_, at) => toolOf(`tool_${String(at)}`));
      const words = Array.from({ length: 5_000 }, (_, at) => `word${String(at)} `).join('');
      const body = bodyOf(tools, `${words.repeat(100)} Now ask tool_77, please`);
      expect(body.length).toBeGreaterThan(4 << 20);
      const began = process.cpuUsage();
      expect(await ask(proxy, body)).toBe(200);
      const { user } = process.cpuUsage(began);
      const sent = decodeRequest('openai-chat', upstream.received[0]?.body.toString() ?? '');
      if (pipe !== search) expect(sent.tools.map(({ name }) => name)).toContain('tool_77');
      // Its bytes are read several times, its words are not compared with each of 500 tools.
      expect(user).toBeLessThan(5_000_000);
    },
  );
});

describe('a search that is hostile', () => {
  it.each(['(a+)+$', '(.*)*x', '(?=a)b', '(a)\\1', '[', '\\', 'a{1000}{1000}', '', 'x'.repeat(600), '(?<n>a)\\k<n>'])(
    'is answered in bounded time: %s',
    async (query) => {
      const { upstream, proxy } = await proxied(search, query);
      const tools = Array.from({ length: 50 }, (_, at) =>
        toolOf(`tool_${String(at)}`, { description: 'a'.repeat(1_000) }),
      );
      const began = performance.now();
      expect(await ask(proxy, bodyOf(tools))).toBe(200);
      expect(performance.now() - began).toBeLessThan(10_000);
      expect(upstream.received).toHaveLength(2);
    },
  );

  it('holds up no other request meanwhile, whatever its pattern repeats', async () => {
    const repeated = ['(.{0,1000})'.repeat(45), '(?:a?){160}a{160}b', '(?:(?:(?:a*)*)*)*b', '(a|aa)*[ab]{300}c'];
    for (const query of repeated) {
      const { proxy } = await proxied(search, query);
      const tools = Array.from({ length: 400 }, (_, at) =>
        toolOf(`tool_${String(at)}`, { description: 'a'.repeat(9_000) }),
      );
      const began = process.threadCpuUsage();
      const longest = monitorEventLoopDelay({ resolution: 5 });
      longest.enable();
      expect(await ask(proxy, bodyOf(tools))).toBe(200);
      longest.disable();
      const { user } = process.threadCpuUsage(began);
      // Without bounds each of these takes from many seconds to hours.
      expect([query, user < 10_000_000, longest.max < 5e9]).toEqual([query, true, true]);
    }
  });

  it('may have arguments that are no JSON, and no credential is in a line, a metric or a record', async () => {
    const { upstream, proxy } = await proxied(search);
    upstream.script = ({ body }, response) => {
      const isFirst = !body.includes('"role":"tool"');
      const odd = { ...call(searchName, {}, 's'), args: '{"query": "sk-of-the-cl' };
      const parts = [isFirst ? odd : text('Hello.')];
      const turn = { id: 't', model: 'm', parts, finish: isFirst ? 'calls' : 'stop', usage } as never;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(encodeTurn('openai-chat', turn, 0).body);
    };
    expect(await ask(proxy, bodyOf([toolOf('a'), toolOf('b')]))).toBe(200);
    open.splice(open.indexOf(proxy), 1);
    await proxy.close();
    expect(proxy.lines() + (await proxy.metrics()) + JSON.stringify(proxy.published)).not.toMatch(
      /sk-of-the-client|sk-other/,
    );
  });
});
