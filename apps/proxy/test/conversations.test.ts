import { afterEach, describe, expect, it } from '@jest/globals';
import type { Documents } from '@sluice/core';
import { decodeRequest, encodeTurn } from '@sluice/wires';
import type { ClientRequest } from '../src/client-request.js';
import { CredentialOwner } from '../src/credential-owner.js';
import { ScriptedUpstream, startTestProxy, type TestProxy } from './proxying.js';
import { call, searchCall, searchName, text, tools, usage } from './scripted-model.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const definitions = tools.map(({ name, description, inputSchema }) => ({
  name,
  description,
  input_schema: inputSchema,
}));
const mark = { cache_control: { type: 'ephemeral' } };

/** A model that searches for the weather as long as it is not shown it, else calls it once, else answers. */
async function proxied(strategy = 'tool-search'): Promise<{ upstream: ScriptedUpstream; proxy: TestProxy }> {
  const upstream = await ScriptedUpstream.start(({ body }, response) => {
    const request = decodeRequest('anthropic', body.toString());
    const names = request.tools.map(({ name }) => name);
    const isDone = body.includes('tool_result') && body.includes('Sunny');
    const isSearch = names.includes(searchName) && !names.includes('get_weather');
    const parts = [isDone ? text('Sunny.') : isSearch ? searchCall('weather') : call('get_weather', { city: 'Oslo' })];
    const finish = isDone ? 'stop' : 'calls';
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(encodeTurn('anthropic', { id: 't', model: 'm', parts, finish, usage }, 0).body);
  });
  const proxy = await startTestProxy(`
pipes: { tool_discovery: { enabled: true, strategy: ${strategy} } }
proxy: { upstreams: { main: { api: anthropic, url: '${upstream.url}' } } }
`);
  open.push(proxy, upstream);
  return { upstream, proxy };
}

async function ask(proxy: TestProxy, messages: readonly object[], headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${proxy.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'sk-ann', ...headers },
    body: JSON.stringify({ model: 'm', max_tokens: 9, messages, tools: definitions }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as { readonly content: readonly object[] };
}

const sizes = (upstream: ScriptedUpstream): readonly number[] =>
  upstream.bodies<{ tools: unknown[] }>().map((body) => body.tools.length);

const question = (more: object = {}, reminder = 'Today is Friday.'): object => ({
  role: 'user',
  content: [
    { type: 'text', text: `<system-reminder>${reminder}</system-reminder>` },
    { type: 'text', text: 'What is the weather in Oslo?', ...more },
  ],
});

describe('a conversation', () => {
  it('is known again where the client moves its cache mark and writes another reminder (XS-21)', async () => {
    const { upstream, proxy } = await proxied();
    const { content } = await ask(proxy, [question(mark)]);
    await ask(proxy, [
      question({}, 'Today is Saturday.'),
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'id-get_weather', content: 'Sunny', ...mark }] },
    ]);
    expect(sizes(upstream)).toEqual([1, 2, 2]);
    // What it used stays shown; what it found and has not used yet does so by its session alone.
    await ask(proxy, [question()]);
    expect(sizes(upstream).at(-1)).toBe(2);
  });

  it.each([
    ['of another key', { 'x-api-key': 'sk-bob' }],
    ['of another kind of key', { 'x-api-key': '', authorization: 'Bearer sk-ann' }],
    ['with an id of its own', { 'x-claude-code-session-id': 'another' }],
  ])('shares nothing with one %s, though it says the same (XS-21)', async (_, headers) => {
    const { upstream, proxy } = await proxied();
    await ask(proxy, [question()]);
    await ask(proxy, [question()], headers);
    expect(sizes(upstream)).toEqual([1, 2, 1, 2]);
  });

  it('is that of who signs, whatever the signature: clients of AWS sign each request with another one', async () => {
    const { upstream, proxy } = await proxied();
    const signed = (who: string, signature: string) => ({
      'x-api-key': '',
      authorization: `AWS4-HMAC-SHA256 Credential=${who}/20260101/eu/bedrock/aws4_request, SignedHeaders=host, Signature=${signature}`,
    });
    await ask(proxy, [question()], signed('AKIA1', 'aaaa'));
    await ask(proxy, [question()], signed('AKIA1', 'bbbb'));
    await ask(proxy, [question()], signed('AKIA2', 'bbbb'));
    expect(sizes(upstream)).toEqual([1, 2, 2, 1, 2]);
  });

  it('is known by a key of this process while the database does not answer, and waits for no more than a moment', async () => {
    const silent = { find: () => new Promise<never>(() => undefined) } as unknown as Documents;
    const warned: string[] = [];
    const owners = new CredentialOwner(silent, null, (_, message) => void warned.push(message));
    const request = { headers: ['x-api-key', 'sk-ann'], target: '/v1/messages' } as unknown as ClientRequest;
    expect(await owners.of(request, null)).toMatchObject({ userId: expect.stringMatching(/^key:[0-9a-f]{32}$/) });
    expect(warned).toHaveLength(1);
  });

  it('keeps no credential', async () => {
    const { proxy } = await proxied();
    await ask(proxy, [question()]);
    expect(proxy.published.length === 0 ? '' : JSON.stringify(proxy.published)).not.toContain('sk-ann');
    const kept = (
      proxy.runtime.documents as unknown as { find(key: string): Promise<{ text: string } | undefined> }
    ).find('discovery-credential-key');
    expect((await kept)?.text).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each(['ranked, min_tools: 1, max_tools: 1', 'relevance, min_tools: 1, max_tools: 1', 'tool-search'])(
    'is never without a tool that it has used: %s',
    async (strategy) => {
      const { upstream, proxy } = await proxied(strategy);
      await ask(proxy, [
        { role: 'user', content: 'Read my file' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'send_mail', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'Sunny' }] },
        { role: 'user', content: 'Read a file' },
      ]);
      const [first] = upstream.bodies<{ tools: { name: string }[] }>();
      expect(first?.tools.map(({ name }) => name)).toContain('send_mail');
    },
  );

  it('is asked by what the person said: reminders choose no tool', async () => {
    const { upstream, proxy } = await proxied('ranked, min_tools: 1, max_tools: 1');
    for (const asked of ['Reads a file', 'The weather of a city', 'Sends a letter'])
      await ask(proxy, [
        {
          role: 'user',
          content: [
            {
              type: 'text',
              text: '<system-reminder>weather weather letter Sends mail weather of a city</system-reminder>',
            },
            { type: 'text', text: asked },
          ],
        },
      ]);
    const shown = upstream.bodies<{ tools: { name: string }[] }>().map((body) => body.tools.map(({ name }) => name));
    expect(shown).toEqual([['read_file'], ['get_weather'], ['send_mail']]);
  });
});
