import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ScriptedUpstream, startTestProxy, type TestProxy } from './proxying.js';

const toolOf = (name: string): object => ({ type: 'function', name, description: `Does ${name}`, parameters: {} });
const body = Buffer.from(
  JSON.stringify({
    model: 'm',
    input: 'What is the weather?',
    tools: ['read_file', 'send_mail', 'get_weather', 'play_song'].map(toolOf),
  }),
);
const codings: readonly (readonly [string, (plain: Buffer) => Buffer])[] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['GZIP', gzipSync],
  ['identity, gzip', gzipSync],
  ['gzip, zstd', (plain) => zstdCompressSync(gzipSync(plain))],
];

let upstream: ScriptedUpstream;
let proxy: TestProxy;
const other: TestProxy[] = [];
beforeAll(async () => {
  upstream = await ScriptedUpstream.start((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"id":"r","output":[],"status":"completed"}');
  });
  proxy = await startTestProxy(`
pipes: { tool_discovery: { enabled: true, strategy: ranked, min_tools: 1, max_tools: 1 } }
proxy:
  upstreams: { main: { api: openai, url: '${upstream.url}' } }
  models: { fast: { upstream: main, name: small } }
`);
});
afterAll(async () => {
  await proxy.close();
  await upstream.close();
});
afterEach(async () => {
  for (const one of other.splice(0)) await one.close();
});

const ask = (bytes: Buffer, encoding: string, to = proxy): Promise<Response> =>
  fetch(`${to.url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-encoding': encoding },
    body: new Uint8Array(bytes),
  });

describe('a compressed body', () => {
  it.each(codings)('in %s is read, and goes on plain with the chosen tools', async (name, compressed) => {
    expect((await ask(compressed(body), name)).status).toBe(200);
    const sent = upstream.received.at(-1);
    expect(sent?.headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(sent?.body.toString() ?? '')).toMatchObject({ tools: [{ name: 'get_weather' }] });
  });

  it('goes on with every byte where nothing is changed', async () => {
    const bytes = zstdCompressSync(JSON.stringify({ model: 'm', input: 'Hi' }));
    expect((await ask(bytes, 'zstd')).headers.get('x-sluice-unread')).toBeNull();
    const sent = upstream.received.at(-1);
    expect(sent?.headers['content-encoding']).toBe('zstd');
    expect(sent?.body.equals(bytes)).toBe(true);
  });

  it('is routed by its model, and gets the other name plain', async () => {
    expect((await ask(gzipSync(JSON.stringify({ model: 'fast', input: 'Hi' })), 'gzip')).status).toBe(200);
    const sent = upstream.received.at(-1);
    expect(sent?.headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(sent?.body.toString() ?? '')).toEqual({ model: 'small', input: 'Hi' });
  });
});

// 65 MB of one character are some kilobytes in each of them.
const bomb = gzipSync(Buffer.alloc(65 << 20, 0x20));
const unread: readonly (readonly [string, string, Buffer])[] = [
  ['unknown_encoding', 'snappy', body],
  ['unknown_encoding', 'gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(body)))],
  ['bad_encoding', 'gzip', body],
  ['bad_encoding', 'zstd', zstdCompressSync(body).subarray(0, 20)],
  ['too_large', 'gzip', bomb],
  ['too_large', 'br', brotliCompressSync(Buffer.alloc(65 << 20, 0x20))],
  ['too_large', 'zstd', zstdCompressSync(Buffer.alloc(65 << 20, 0x20))],
  ['unreadable', 'gzip', gzipSync('{"tools": [')],
];

describe('a body that cannot be read', () => {
  it.each(unread)('passes with every byte and says %s: %s', async (reason, encoding, bytes) => {
    const response = await ask(bytes, encoding);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-sluice-unread')).toBe(reason);
    expect(upstream.received.at(-1)?.headers['content-encoding']).toBe(encoding);
    expect(upstream.received.at(-1)?.body.equals(bytes)).toBe(true);
    await response.arrayBuffer();
  });

  it('leaves a record and a count of each reason', async () => {
    const own = await startTestProxy(`
pipes: { tool_discovery: { enabled: true, strategy: ranked } }
proxy: { upstreams: { main: { api: openai, url: '${upstream.url}' } } }
`);
    const reasons = ['unknown_encoding', 'bad_encoding', 'too_large', 'unreadable'];
    for (const reason of reasons) {
      const [, encoding, bytes] = unread.find(([is]) => is === reason) ?? ['', '', body];
      await (await ask(bytes, encoding, own)).arrayBuffer();
    }
    await own.close();
    const records = own.published.map(({ record }) => record as unknown as Record<string, unknown>);
    expect(records.map(({ bypass }) => bypass)).toEqual(reasons);
    expect(records[0]).toMatchObject({ wire: 'openai-responses', totalTools: 0, tokensBefore: null });
    const metrics = await own.metrics();
    for (const reason of reasons)
      expect(metrics).toContain(
        `sluice_discovery_requests_total{source="proxy",strategy="ranked",outcome="${reason}"} 1`,
      );
  });
});
