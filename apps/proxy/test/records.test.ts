import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { encodeTurn } from '@sluice/wires';
import { ScriptedUpstream, startTestProxy } from './proxying.js';

const open: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const tools = ['read_file', 'get_weather', 'send_mail'].map((name) => ({
  type: 'function',
  function: { name, description: `Does ${name}`, parameters: { type: 'object', properties: {} } },
}));
const usage = { inputTokens: 1, outputTokens: 1 };
const call = (name: string, args: string) => ({ type: 'call' as const, toolCallId: `call_${name}`, name, args });

/** A proxy whose model searches once with the query, and then calls a tool. */
async function searching(pipes: string, query: string, isMonitored: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-records-'));
  open.push(() => rmSync(folder, { recursive: true }));
  const upstream = await ScriptedUpstream.start(({ body }, response) => {
    const isFirst = !body.includes('"role":"tool"') && body.includes('gateway_search_tools');
    const part = isFirst
      ? call('gateway_search_tools', JSON.stringify({ query }))
      : call('get_weather', '{"key":"sk-live-0123456789abcdef0123"}');
    const turn = { id: 'a', model: 'm', parts: [part], finish: 'calls', usage };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(encodeTurn('openai-chat', turn as never, 0).body);
  });
  open.push(() => upstream.close());
  const monitoring = isMonitored ? `monitoring: { folder: '${folder}' }` : '';
  const proxy = await startTestProxy(`
proxy: { upstreams: { main: { api: openai, url: '${upstream.url}' } } }
${monitoring}
pipes: { tool_discovery: ${pipes} }`);
  const body = JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hm' }], tools });
  const headers = { 'content-type': 'application/json', authorization: 'Bearer the-key-of-the-client' };
  const response = await fetch(`${proxy.url}/v1/chat/completions`, { method: 'POST', body, headers });
  expect(response.status).toBe(200);
  await response.arrayBuffer();
  // What is noted is written before the proxy has ended.
  await proxy.close();
  return { proxy, file: join(folder, 'tool_discovery.jsonl') };
}

describe('what the proxy writes down of a request', () => {
  const strategy = '{ enabled: true, strategy: tool-search, shadow: ranked, min_tools: 1, max_tools: 1 }';

  it('has queries, matches and rounds, on the log and in a file under the one setting for monitoring (DS-120, DS-121, DS-123, DS-124, DS-125, XS-30)', async () => {
    const { proxy, file } = await searching(strategy, 'weather', true);
    const [message, ...others] = proxy.published;
    expect(others).toEqual([]);
    expect(message).toMatchObject({
      topic: 'agent.discovery',
      record: {
        ...{ source: 'proxy', strategy: 'tool-search', bypass: null, wire: 'openai-chat', model: 'gpt-5-mini' },
        ...{ totalTools: 3, keptTools: 0, deferredTools: 3, rounds: 1, called: ['get_weather'], calledDeferred: 1 },
        searches: [{ query: 'weather', by: 'regex', matched: ['get_weather'], matchedTools: 1, failOpen: null }],
        ...{ tokenizer: 'o200k', shadow: { strategy: 'ranked', keptTools: 1, missed: ['get_weather'] } },
      },
    });
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ total_tools: 3, rounds: 1, called: ['get_weather'], tenant_id: 'local' }),
    ]);
    const metrics = await proxy.metrics();
    expect(metrics).toContain('sluice_discovery_searches_total{by="regex"} 1');
    expect(metrics).toContain('sluice_discovery_shadow_called_total{strategy="ranked",result="missed"} 1');
    expect(metrics).toContain('sluice_discovery_called_total{strategy="tool-search",shown="found"} 1');
  });

  it('has no credential in it: neither the client’s, nor one that a model searches for', async () => {
    const { proxy, file } = await searching(strategy, 'send with api_key=sk-live-0123456789abcdef0123', true);
    const written = readFileSync(file, 'utf8') + JSON.stringify(proxy.published) + proxy.lines();
    expect(written).toContain('[hidden]');
    expect(written).not.toMatch(/0123456789abcdef|the-key-of-the-client/);
  });

  it('is no file without the setting (XS-30)', async () => {
    const { proxy, file } = await searching(strategy, 'weather', false);
    expect(proxy.published).toHaveLength(1);
    expect(existsSync(file)).toBe(false);
  });

  it('is nothing where discovery is off', async () => {
    const { proxy, file } = await searching('{ enabled: false }', 'weather', true);
    expect(proxy.published).toEqual([]);
    expect(existsSync(file)).toBe(false);
  });
});
