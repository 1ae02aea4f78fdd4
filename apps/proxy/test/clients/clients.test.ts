import { afterEach, describe, expect, it } from '@jest/globals';
import { decodeRequest, type TurnPart } from '@sluice/wires';
import { ScriptedUpstream, startTestProxy, type TestProxy } from '../proxying.js';
import { answerIn, call, contentTypeOf, piecesOf, searchCall, searchName, text, turnBytes } from '../scripted-model.js';
import { type Client, clients } from './clients.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** A model that says the rounds in turn; what is asked of it with a search tool in the request comes first. */
async function modelOf(
  { wire }: Client,
  stream: boolean,
  rounds: readonly { readonly parts: readonly TurnPart[]; readonly rounds?: number }[],
): Promise<ScriptedUpstream> {
  let at = 0;
  const upstream = await ScriptedUpstream.start(async (_, response) => {
    const round = rounds[Math.min(at, rounds.length - 1)] ?? { parts: [] };
    const bytes = turnBytes(wire, stream, { ...round, id: `turn-${String(at++)}` });
    await answerIn(response, contentTypeOf(wire, stream), stream ? piecesOf(bytes, 61) : [bytes]);
  });
  open.push(upstream);
  return upstream;
}

async function proxyOf({ api }: Client, url: string, pipe: string): Promise<TestProxy> {
  const proxy = await startTestProxy(`
pipes: { tool_discovery: { ${pipe} } }
proxy: { upstreams: { main: { api: ${api}, url: '${url}' } } }
`);
  open.push(proxy);
  return proxy;
}

const shownTo = ({ wire }: Client, upstream: ScriptedUpstream): readonly (readonly string[])[] =>
  upstream.received.map(({ body }) => decodeRequest(wire, body.toString()).tools.map(({ name }) => name));

/** Without the provider’s own ids of answers and items; texts that follow each other are one. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return joined(value.map(plain));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, one]) => [name, plain(one)] as const);
  return Object.fromEntries(members.filter(([name, one]) => !/^(id|itemId)$/.test(name) || /^id-/.test(String(one))));
}

interface Part {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly content?: readonly unknown[];
}

function joined(parts: readonly unknown[]): readonly unknown[] {
  const all: unknown[] = [];
  for (const part of parts as readonly Part[]) {
    const last = all.at(-1) as typeof part | undefined;
    const isText = typeof part?.text === 'string' && typeof last?.text === 'string' && part.type === last.type;
    const isMessage = part?.type === 'message' && last?.type === 'message';
    if (isText) all[all.length - 1] = { ...last, text: `${String(last.text)}${String(part.text)}` };
    else if (isMessage)
      all[all.length - 1] = { ...last, content: joined([...(last.content ?? []), ...(part.content ?? [])]) };
    else all.push(part);
  }
  return all;
}

const question = 'What is the weather of the city?';
const called = [text('It is warm, I think: ü.'), call('get_weather', { city: 'Rome' }), call('read_file', {})];
const ways = [
  ['text', [text('Hello. Ça va?')]],
  ['calls of tools', called],
] as const;

describe.each(clients.flatMap((client) => [true, false].map((stream) => [client.name, stream, client] as const)))(
  '%s, streamed: %s',
  (_, stream, client) => {
    it.each(ways)('gets the same as without the proxy: %s (DS-109, DS-113)', async (__, parts) => {
      const direct = await modelOf(client, stream, [{ parts }]);
      const expected = await client.ask(direct.url, stream, question);
      const upstream = await modelOf(client, stream, [{ parts }]);
      const off = await proxyOf(client, upstream.url, 'enabled: false');
      expect(await client.ask(off.url, stream, question)).toEqual(expected);
      expect(upstream.received[0]?.body).toEqual(direct.received[0]?.body);
      const again = await modelOf(client, stream, [{ parts }]);
      const on = await proxyOf(
        client,
        again.url,
        'enabled: true, strategy: relevance, min_tools: 1, target_ratio: 0.4',
      );
      expect(await client.ask(on.url, stream, question)).toEqual(expected);
      const all = ['read_file', 'get_weather', 'send_mail'];
      expect(shownTo(client, again)).toEqual([client.wire === 'gemini' ? all : ['get_weather']]);
    });

    it('sees nothing of a search between its question and its answer (DS-90, DS-92)', async () => {
      const first = [text('Let me look.'), searchCall('weather')];
      const [kept] = first as [TurnPart];
      if (client.wire === 'gemini') return;
      const direct = await modelOf(client, stream, [{ parts: [kept, ...called], rounds: 2 }]);
      const expected = await client.ask(direct.url, stream, question);
      const upstream = await modelOf(client, stream, [{ parts: first }, { parts: called }]);
      const proxy = await proxyOf(client, upstream.url, 'enabled: true, strategy: tool-search');
      expect(plain(await client.ask(proxy.url, stream, question))).toEqual(plain(expected));
      expect(shownTo(client, upstream)).toEqual([[searchName], [searchName, 'get_weather']]);
    });
  },
);
