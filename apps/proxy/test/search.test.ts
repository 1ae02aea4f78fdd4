import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  decodeRequest,
  decodeStream,
  decodeTurn,
  encodeRequest,
  encodeStream,
  encodeTurn,
  streamContentType,
  type DecodedTurn,
  type Turn,
  type TurnPart,
  type WireName,
} from '@sluice/wires';
import { ScriptedUpstream, startTestProxy, type TestProxy } from './proxying.js';
import { apiOf, call, pathOf, searchCall, searchName as search, text, tools, usage } from './scripted-model.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** A client has its answer a moment before the proxy has read it. */
async function untilNoneIsOpen(proxy: TestProxy): Promise<void> {
  const late = performance.now() + 10_000;
  const isOpen = async (): Promise<boolean> => !/^sluice_proxy_requests_open 0$/m.test(await proxy.metrics());
  while (await isOpen()) {
    if (performance.now() > late) throw new Error('A request is still open.');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const wires = ['openai-chat', 'openai-responses', 'anthropic', 'bedrock', 'bedrock-anthropic'] as const;
type Wire = (typeof wires)[number];

function question(wire: Wire, stream: boolean, text = `Weather? ${String(Math.random())}`): string {
  return encodeRequest(wire, {
    model: 'm',
    instructions: '',
    messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
    tools: tools as never,
    toolChoice: null,
    maxOutputTokens: 100,
    temperature: null,
    topP: null,
    stopSequences: [],
    stream,
  }).body;
}

function bytesOf(wire: WireName, stream: boolean, parts: readonly TurnPart[], round: number): Buffer {
  const finish = parts.some(({ type }) => type === 'call') ? 'calls' : 'stop';
  const turn: Turn = { id: `turn-${String(round)}`, model: 'm', parts, finish, usage };
  if (!stream) return Buffer.from(encodeTurn(wire, turn, 0).body);
  const encoder = encodeStream(wire, { id: turn.id, model: 'm', createdAtMs: 0 });
  return Buffer.concat([encoder.start(), ...parts.map((part) => encoder.part(part)), encoder.end(finish, usage)]);
}

const damage = (wire: Wire): Buffer => (wire.startsWith('bedrock') ? Buffer.alloc(32) : Buffer.from('data: {"a\n\n'));

interface Setup {
  readonly wire: Wire;
  readonly stream: boolean;
  /** The parts of each round; the last one is repeated. */
  readonly rounds: readonly (readonly TurnPart[])[];
  readonly strategy?: string;
  /** How the upstream’s bytes are cut. */
  readonly cut?: number;
  readonly zipped?: boolean;
  /** Whether something follows the first round that is no event. */
  readonly isDamaged?: boolean;
}

async function between({
  wire,
  stream,
  rounds,
  strategy = 'strategy: tool-search',
  cut,
  zipped = false,
  isDamaged = false,
}: Setup): Promise<{
  upstream: ScriptedUpstream;
  proxy: TestProxy;
}> {
  let round = 0;
  const upstream = await ScriptedUpstream.start(async (_, response) => {
    const parts = rounds[Math.min(round, rounds.length - 1)] ?? [];
    const sound = bytesOf(wire, stream, parts, round++);
    const plain = isDamaged ? Buffer.concat([sound, damage(wire)]) : sound;
    const bytes = zipped ? gzipSync(plain) : plain;
    response.writeHead(200, {
      'content-type': stream ? streamContentType(wire) : 'application/json',
      ...(zipped ? { 'content-encoding': 'gzip' } : {}),
    });
    for (let at = 0; at < bytes.length; at += cut ?? bytes.length) {
      response.write(bytes.subarray(at, at + (cut ?? bytes.length)));
      if (cut !== undefined) await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  const proxy = await startTestProxy(`
pipes: { tool_discovery: { enabled: true, ${strategy} } }
proxy: { upstreams: { main: { api: ${apiOf(wire)}, url: '${upstream.url}' } } }
`);
  open.push(proxy, upstream);
  return { upstream, proxy };
}

async function ask(
  proxy: TestProxy,
  wire: Wire,
  stream: boolean,
  body = question(wire, stream),
): Promise<{ bytes: Buffer; turn: DecodedTurn }> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(proxy.url + pathOf(wire, stream), { method: 'POST', headers, body });
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(response.status).toBe(200);
  if (!stream) return { bytes, turn: decodeTurn(wire, bytes.toString()) };
  const decoder = decodeStream(wire);
  decoder.push(bytes);
  return { bytes, turn: decoder.end() };
}

const saidBy = ({ parts }: DecodedTurn): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('|');
const calledBy = ({ parts }: DecodedTurn): readonly string[] =>
  parts.flatMap((part) => (part.type === 'call' ? [`${part.name}#${part.toolCallId}`] : []));
const plainOf = (wire: Wire, bytes: Buffer): string =>
  wire === 'bedrock-anthropic'
    ? [...bytes.toString('latin1').matchAll(/"bytes":"([^"]+)"/g)]
        .map(([, b = '']) => Buffer.from(b, 'base64').toString())
        .join('\n') + bytes.toString('latin1')
    : bytes.toString('latin1');

const both = wires.flatMap((wire) => [true, false].map((stream) => [wire, stream] as const));

describe.each(both)('a search over %s, streamed: %s', (wire, stream) => {
  it('is answered inside, and the tool that it finds is called (DS-04, DS-56, DS-57, DS-58, DS-59, DS-60, DS-61, DS-62, DS-85, DS-86, DS-87, DS-114, DS-116, DS-133, XS-18, XB-16)', async () => {
    const { upstream, proxy } = await between({
      wire,
      stream,
      rounds: [
        [text('Let me look.'), searchCall('weather')],
        [text('Found.'), call('get_weather', { city: 'Rome' })],
      ],
    });
    const body = question(wire, stream);
    const { bytes, turn } = await ask(proxy, wire, stream, body);
    expect(saidBy(turn).replaceAll('|', '')).toBe('Let me look.Found.');
    expect(calledBy(turn)).toEqual(['get_weather#id-get_weather']);
    expect(turn.finish).toBe('calls');
    expect(turn.usage).toMatchObject({ inputTokens: 20, outputTokens: 10 });
    expect(plainOf(wire, bytes)).not.toMatch(/gateway_search|search-1/);
    const [first, second] = upstream.received.map((received) => decodeRequest(wire, received.body.toString()));
    expect(first?.tools.map(({ name }) => name)).toEqual([search]);
    expect(second?.tools.map(({ name }) => name)).toEqual([search, 'get_weather']);
    const result = second?.messages.at(-1)?.parts[0];
    expect(result).toMatchObject({
      type: 'result',
      toolCallId: 'search-1',
      text: expect.stringContaining('get_weather'),
    });
    // The definition is the client’s, to the byte.
    const definition = /\{[^{}]*"get_weather".*?\{"city":\{"type":"string"\}\}\}/.exec(body)?.[0] ?? '?';
    expect(upstream.received[1]?.body.toString()).toContain(definition);
  });

  it('of more characters than are searched for is answered with a sentence, and recorded without what may be a credential', async () => {
    const runaway = `weather ${'-eyJhbGciOi'.repeat(130_000)}`;
    const { upstream, proxy } = await between({
      ...{ wire, stream, rounds: [[searchCall(runaway)], [text('Ok.')]] },
      ...(stream ? { cut: 16_384 } : {}),
    });
    const { turn } = await ask(proxy, wire, stream);
    expect(saidBy(turn)).toBe('Ok.');
    const second = decodeRequest(wire, upstream.received[1]?.body.toString() ?? '');
    expect(second.messages.at(-1)?.parts[0]).toMatchObject({
      type: 'result',
      text: expect.stringMatching(/^Nothing was searched: the query has 1430008 characters, and a search takes 2000/),
    });
    expect(second.tools.map(({ name }) => name)).toEqual([search]);
    open.splice(open.indexOf(proxy), 1);
    await proxy.close();
    expect(proxy.published[0]?.record).toMatchObject({ searches: [{ query: 'weather ', by: 'too_long' }] });
  });

  it('in an answer that cannot be read to its end ends in an error, and not in an empty answer', async () => {
    if (!stream) return;
    const { proxy } = await between({ wire, stream, rounds: [[searchCall('weather')]], isDamaged: true });
    const response = await fetch(proxy.url + pathOf(wire, stream), { method: 'POST', body: question(wire, stream) });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(plainOf(wire, bytes)).toMatch(/could not be read to its end, so its search for tools was not answered/);
    expect(plainOf(wire, bytes)).not.toMatch(/gateway_search|search-1/);
  });

  it('ends after five rounds with an answer that has no trace of it (DS-88, DS-89, DS-94, DS-130, XS-16)', async () => {
    const { upstream, proxy } = await between({ wire, stream, rounds: [[text('Hm.'), searchCall('nothing fits')]] });
    const { bytes, turn } = await ask(proxy, wire, stream);
    expect(upstream.received).toHaveLength(6);
    expect([turn.finish, calledBy(turn)]).toEqual(['stop', []]);
    expect(plainOf(wire, bytes)).not.toMatch(/gateway_search|search-1/);
  });

  it('beside a real call is answered inside, the real call goes to the client, and the next request has what was found (DS-95, DS-102, DS-106, DS-91)', async () => {
    const { upstream, proxy } = await between({
      wire,
      stream,
      rounds: [[searchCall('weather'), call('read_file', {}, 'real-1'), searchCall('letter', 'search-2')]],
    });
    const body = question(wire, stream);
    const { turn, bytes } = await ask(proxy, wire, stream, body);
    expect([turn.finish, calledBy(turn)]).toEqual(['calls', ['read_file#real-1']]);
    expect(plainOf(wire, bytes)).not.toMatch(/gateway_search|search-\d/);
    expect(upstream.received).toHaveLength(1);
    await ask(proxy, wire, stream, body);
    const next = decodeRequest(wire, upstream.received[1]?.body.toString() ?? '');
    expect(next.tools.map(({ name }) => name)).toEqual([search, 'get_weather', 'send_mail']);
  });

  it('does not happen: the answer comes as it is (DS-93)', async () => {
    const { upstream, proxy } = await between({ wire, stream, rounds: [[text('Hello.')]] });
    const { bytes } = await ask(proxy, wire, stream);
    if (wire !== 'openai-responses') expect(bytes).toEqual(bytesOf(wire, stream, [text('Hello.')], 0));
    expect(upstream.received).toHaveLength(1);
  });

  it('is the same however the upstream’s bytes are cut, and compressed', async () => {
    const rounds = [
      [text('Let me look, ü.'), searchCall('weather')],
      [text('Found.'), call('get_weather', {}), call('read_file', {}, 'r')],
    ];
    const answers = [];
    for (const cut of [undefined, 1, 7]) {
      const { proxy } = await between({ wire, stream, rounds, ...(cut === undefined ? {} : { cut }) });
      answers.push((await ask(proxy, wire, stream)).bytes.toString('latin1'));
    }
    const { proxy } = await between({ wire, stream, rounds, zipped: true });
    answers.push((await ask(proxy, wire, stream)).bytes.toString('latin1'));
    expect(new Set(answers).size).toBe(1);
  });
});

describe.each([true, false])('an answer that OpenAI keeps, streamed: %s', (stream) => {
  const wire = 'openai-responses';
  const going = (from: string): string =>
    JSON.stringify({
      ...{ model: 'm', stream, previous_response_id: from, tools: JSON.parse(question(wire, stream)).tools as unknown },
      input: [{ type: 'function_call_output', call_id: 'id-get_weather', output: 'Warm.' }],
    });

  it('is gone on from by the id that the client knows, with the tools that were found', async () => {
    const found = call('get_weather', { city: 'Rome' });
    const { upstream, proxy } = await between({
      wire,
      stream,
      rounds: [[searchCall('weather')], [found], [text('Ok.')]],
    });
    const kept = question(wire, stream).replace('"store":false', '"store":true');
    const { turn } = await ask(proxy, wire, stream, kept);
    // The provider knows the answer to the last request alone as that of the whole conversation.
    expect(turn.id).toBe(stream ? 'turn-0' : 'turn-1');
    const body = going(turn.id);
    await ask(proxy, wire, stream, body);
    const sent = upstream.received[2]?.body.toString() ?? '';
    expect(JSON.parse(sent)).toMatchObject({ previous_response_id: 'turn-1' });
    expect(decodeRequest(wire, sent).tools.map(({ name }) => name)).toEqual([search, 'get_weather']);
    // The answer to that one is known as well.
    await ask(proxy, wire, stream, going('turn-2'));
    const next = upstream.received[3]?.body.toString() ?? '';
    expect(decodeRequest(wire, next).tools.map(({ name }) => name)).toEqual([search, 'get_weather']);
  });

  it('that is not known is gone on from as the client says', async () => {
    const { upstream, proxy } = await between({ wire, stream, rounds: [[text('Ok.')]] });
    await ask(proxy, wire, stream, going('resp_elsewhere'));
    expect(upstream.bodies()[0]).toMatchObject({ previous_response_id: 'resp_elsewhere' });
  });
});

describe('a choice of tools', () => {
  it.each(wires)(
    'over %s keeps the bytes and the order of what stays (DS-01, DS-05, DS-08, DS-40, DS-54, DS-107, DS-110, DS-111, DS-112, DS-115, XB-35)',
    async (wire) => {
      const { upstream, proxy } = await between({
        wire,
        stream: false,
        rounds: [[text('Hello.')]],
        strategy: 'strategy: relevance, min_tools: 1, target_ratio: 0.4',
      });
      const body = question(wire, false, 'weather of a city');
      await ask(proxy, wire, false, body);
      const sent = upstream.received[0]?.body.toString() ?? '';
      expect(decodeRequest(wire, sent).tools.map(({ name }) => name)).toEqual(['get_weather']);
      expect(decodeRequest(wire, sent)).toMatchObject({ query: 'weather of a city' });
      const definition = /\{[^{}]*"get_weather".*?\{"city":\{"type":"string"\}\}\}/.exec(body)?.[0] ?? '?';
      expect(sent).toContain(definition);
    },
  );

  it('moves the end of a cache to the last tool that stays (XB-35)', async () => {
    const { upstream, proxy } = await between({
      wire: 'anthropic',
      stream: false,
      rounds: [[text('Hello.')]],
      strategy: 'strategy: relevance, min_tools: 1, target_ratio: 0.4',
    });
    const body = question('anthropic', false, 'weather of a city').replace(
      '"name":"send_mail"',
      '"cache_control":{"type":"ephemeral"},"name":"send_mail"',
    );
    await ask(proxy, 'anthropic', false, body);
    const [tool, ...others] = upstream.bodies<{ tools: unknown[] }>()[0]?.tools ?? [];
    expect([tool, others]).toEqual([
      expect.objectContaining({ name: 'get_weather', cache_control: { type: 'ephemeral' } }),
      [],
    ]);
  });

  it.each([
    ['a tool with the search tool’s name', question('openai-chat', false).replace('send_mail', search)],
    ['no tools', '{"model":"m","messages":[{"role":"user","content":"x"}]}'],
    ['a body that is not of its wire', '{"model":"m","messages":7,"tools":[{}]}'],
    ['several choices', question('openai-chat', false).replace('{', '{"n":2,')],
  ])('leaves every byte of a request with %s (DS-126, DS-24)', async (_, body) => {
    const { upstream, proxy } = await between({ wire: 'openai-chat', stream: false, rounds: [[text('Hello.')]] });
    await ask(proxy, 'openai-chat', false, body);
    expect(upstream.received[0]?.body.toString()).toBe(body);
  });
});

/** What the proxy said of its requests. */
async function reportsOf(proxy: TestProxy): Promise<readonly Record<string, unknown>[]> {
  open.splice(open.indexOf(proxy), 1);
  await proxy.close();
  const lines = proxy.lines().trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'discovery of a request');
}

describe('discovery in front of a model', () => {
  it.each([true, false])(
    'says under hybrid that words alone decided, in header, record and metric, streamed: %s',
    async (stream) => {
      for (const fallback of [true, false]) {
        const { proxy } = await between({
          ...{ wire: 'openai-chat', stream, rounds: [[text('Hello.')]] },
          strategy: `strategy: hybrid, min_tools: 1, target_ratio: 0.4, enable_search_fallback: ${String(fallback)}`,
        });
        const body = question('openai-chat', stream);
        const response = await fetch(proxy.url + pathOf('openai-chat', stream), { method: 'POST', body });
        expect([fallback, response.headers.get('x-sluice-meanings')]).toEqual([fallback, 'no_model']);
        await response.arrayBuffer();
        open.splice(open.indexOf(proxy), 1);
        await proxy.close();
        expect(proxy.published[0]?.record).toMatchObject({ strategy: 'hybrid', meanings: 'no_model' });
        expect(await proxy.metrics()).toContain('sluice_discovery_meanings_total{source="proxy",way="no_model"} 1');
      }
    },
  );

  it('asks the service that selects tools, and gives all of them where it fails (DS-73, DS-74, DS-77, DS-79)', async () => {
    const selector = await ScriptedUpstream.start((_, response) => {
      if (selector.received.length > 1) response.writeHead(500);
      response.end('{"selected_names":["send_mail","get_weather"]}');
    });
    open.push(selector);
    const { upstream, proxy } = await between({
      wire: 'openai-chat',
      stream: false,
      rounds: [[searchCall('weather')], [call('get_weather', {})], [searchCall('all')], [text('Done.')]],
      strategy: `strategy: api, api: { endpoint: '${selector.url}/select' }`,
    });
    await ask(proxy, 'openai-chat', false);
    await ask(proxy, 'openai-chat', false);
    const shown = upstream.received.map(({ body }) =>
      decodeRequest('openai-chat', body.toString()).tools.map(({ name }) => name),
    );
    expect(shown[1]).toEqual([search, 'send_mail', 'get_weather']);
    expect(shown[3]).toEqual([search, 'read_file', 'get_weather', 'send_mail']);
    expect(selector.bodies()[0]).toMatchObject({ pattern: 'weather' });
    expect(await reportsOf(proxy)).toMatchObject([
      { strategy: 'api', rounds: 1, searches: 1, called: 1, calledDeferred: 1, bypass: null },
      { strategy: 'api', rounds: 1, searches: 1, called: 0 },
    ]);
  });

  it('does not start where the variable with the selector’s key is not set, and names it (XS-29)', async () => {
    const text =
      "pipes: { tool_discovery: { enabled: true, strategy: api, api: { endpoint: 'http://127.0.0.1:1', api_key: '${SELECTOR_KEY}' } } }";
    await expect(startTestProxy(text)).rejects.toThrow('The variable SELECTOR_KEY is not set');
    open.push(await startTestProxy(text, { SELECTOR_KEY: 'k' }));
  });

  it.each([true, false])(
    'beside passthrough tells what a strategy would have left out, from an answer that passes to the byte, streamed: %s',
    async (stream) => {
      const rounds = [[call('read_file', {}), call('get_weather', {})]];
      const { upstream, proxy } = await between({
        ...{ wire: 'anthropic', stream, rounds, zipped: true },
        strategy: 'strategy: passthrough, shadow: relevance, min_tools: 1, target_ratio: 0.4',
      });
      const body = question('anthropic', stream, 'weather of a city');
      const { bytes } = await ask(proxy, 'anthropic', stream, body);
      expect(bytes).toEqual(bytesOf('anthropic', stream, rounds[0] ?? [], 0));
      expect(upstream.received[0]?.body.toString()).toBe(body);
      await untilNoneIsOpen(proxy);
      expect(await reportsOf(proxy)).toMatchObject([{ bypass: 'passthrough', called: 2, missed: 1, keptTools: 3 }]);
    },
  );
});
