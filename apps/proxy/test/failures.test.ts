import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { encodeRequest, type WireName } from '@sluice/wires';
import { type Script, ScriptedUpstream, startTestProxy, type TestProxy } from './proxying.js';
import { call, contentTypeOf, searchCall, text, tools, turnBytes } from './scripted-model.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const wires = {
  'openai-chat': { api: 'openai', path: '/v1/chat/completions', error: /^data: \{"error":\{"message":"slow down"/m },
  'openai-responses': { api: 'openai', path: '/v1/responses', error: /^event: error\ndata: .*"message":"slow down"/m },
  anthropic: { api: 'anthropic', path: '/v1/messages', error: /^event: error\ndata: .*"message":"slow down"/m },
  bedrock: {
    api: 'bedrock',
    path: '/model/m/converse-stream',
    error: /throttlingException[\s\S]*"message":"slow down"/,
  },
  'bedrock-anthropic': {
    ...{ api: 'bedrock', path: '/model/m/invoke-with-response-stream' },
    error: /throttlingException[\s\S]*"message":"slow down"/,
  },
} as const;
type Wire = keyof typeof wires;
const names = Object.keys(wires) as Wire[];

function question(wire: WireName, stream = true): string {
  return encodeRequest(wire, {
    ...{ model: 'm', instructions: '', toolChoice: null, maxOutputTokens: 100, temperature: null, topP: null },
    messages: [{ role: 'user', parts: [{ type: 'text', text: `Weather? ${String(Math.random())}` }] }],
    ...{ tools, stopSequences: [], stream },
  }).body;
}

/** An upstream whose model searches first; what the script does is the second round. */
async function afterSearch(
  wire: Wire,
  script: Script,
  stream = true,
): Promise<{ upstream: ScriptedUpstream; proxy: TestProxy }> {
  const upstream = await ScriptedUpstream.start((received, response, request) => {
    if (upstream.received.length > 1) return script(received, response, request);
    response.writeHead(200, { 'content-type': contentTypeOf(wire, stream) });
    response.end(turnBytes(wire, stream, { parts: [text('Let me look.'), searchCall('weather')] }));
  });
  const proxy = await startTestProxy(`
pipes: { tool_discovery: { enabled: true, strategy: tool-search } }
proxy: { upstreams: { main: { api: ${wires[wire].api}, url: '${upstream.url}', timeout_seconds: 1 } } }
`);
  open.push(proxy, upstream);
  return { upstream, proxy };
}

async function ask(proxy: TestProxy, wire: Wire, stream = true): Promise<{ response: Response; body: string }> {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-of-the-client' };
  const path = stream ? wires[wire].path : wires[wire].path.replace('converse-stream', 'converse');
  const response = await fetch(proxy.url + path, { method: 'POST', headers, body: question(wire, stream) });
  return { response, body: Buffer.from(await response.arrayBuffer()).toString('latin1') };
}

const limited = (response: ServerResponse): void =>
  void response
    .writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' })
    .end('{"error":{"message":"slow down","type":"rate_limit_error"},"message":"slow down"}');

describe('after a search in a stream', () => {
  it.each(names)('over %s, a 429 comes as the error event of the wire, in the upstream’s words', async (wire) => {
    const { proxy } = await afterSearch(wire, (_, response) => {
      limited(response);
    });
    const { response, body } = await ask(proxy, wire);
    expect(response.status).toBe(200);
    expect(body).toMatch(wires[wire].error);
    expect(body).not.toMatch(/gateway_search/);
    expect(await proxy.metrics()).toContain('sluice_proxy_requests_total{upstream="main",status="429"} 1');
  });

  const ways: readonly (readonly [string, Script, RegExp, string])[] = [
    ['hangs', () => undefined, /did not answer in time/, 'timeout'],
    ['closes the connection', (_, response) => void response.destroy(), /could not be reached/, 'unreachable'],
    ['redirects', (_, response) => void response.writeHead(307, { location: '/x' }).end(), /answered 307/, '307'],
    [
      'sends a page',
      (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      /no stream/,
      '200',
    ],
    [
      'sends a page, compressed',
      (_, response) =>
        void response
          .writeHead(502, { 'content-type': 'text/html', 'content-encoding': 'br' })
          .end(brotliCompressSync('<p>')),
      /answered 502/,
      '502',
    ],
  ];
  it.each(ways)(
    'an upstream that %s is reported by an error event, with the reason in a metric',
    async (_, script, said, status) => {
      const { proxy } = await afterSearch('anthropic', script);
      const { body } = await ask(proxy, 'anthropic');
      expect(body).toMatch(/event: error\ndata: \{"type":"error","error":\{"type":"api_error","message":"/);
      expect(body).toMatch(said);
      expect(await proxy.metrics()).toMatch(
        new RegExp(`sluice_proxy_requests_total\\{upstream="main",status="${status}"\\} [12]$`, 'm'),
      );
      expect(proxy.lines() + (await proxy.metrics())).not.toContain('sk-of-the-client');
    },
  );

  it('an upstream that cuts its stream cuts the client’s', async () => {
    const { proxy } = await afterSearch('anthropic', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: message_start\ndata: {"type":"message_start"');
      setTimeout(() => response.destroy(), 20);
    });
    await expect(ask(proxy, 'anthropic')).rejects.toThrow();
    expect(await proxy.metrics()).toContain('sluice_proxy_requests_total{upstream="main",status="broken_off"} 1');
  });

  it('what is no event of the wire passes, and ends the rounds', async () => {
    const { upstream, proxy } = await afterSearch('openai-chat', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': alive\n\ndata: garbage {\n\n');
    });
    const { body } = await ask(proxy, 'openai-chat');
    expect(body).toContain(': alive\n\n');
    expect(body).toContain('data: garbage {\n\n');
    expect(upstream.received).toHaveLength(2);
  });
});

describe('after a search in an answer that is not streamed', () => {
  it('a 429 reaches the client with its Retry-After and its bytes', async () => {
    const { proxy } = await afterSearch(
      'openai-chat',
      (_, response) => {
        limited(response);
      },
      false,
    );
    const { response, body } = await ask(proxy, 'openai-chat', false);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
    expect(JSON.parse(body)).toMatchObject({ error: { message: 'slow down', type: 'rate_limit_error' } });
  });

  it.each([
    ['cuts its answer', 502, 'broken_off'],
    ['hangs', 504, 'timeout'],
  ] as const)('an upstream that %s: %s', async (way, status, reason) => {
    const { proxy } = await afterSearch(
      'openai-chat',
      (_, response) => {
        if (way === 'hangs') return;
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
        response.write('{"id":');
        setTimeout(() => response.destroy(), 20);
      },
      false,
    );
    const { response, body } = await ask(proxy, 'openai-chat', false);
    expect(response.status).toBe(status);
    expect(JSON.parse(body)).toMatchObject({ error: { code: reason } });
    expect(await proxy.metrics()).toContain(`status="${reason}"} 1`);
  });

  it('garbage passes as it is, plain where it was compressed', async () => {
    const { proxy } = await afterSearch(
      'openai-chat',
      (_, response) =>
        void response
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .end(gzipSync('{"no": "answer"')),
      false,
    );
    expect((await ask(proxy, 'openai-chat', false)).body).toBe('{"no": "answer"');
  });
});

/** A streamed request whose answer is read by hand. */
async function opened(proxy: TestProxy, wire: Wire): Promise<IncomingMessage> {
  const sent = httpRequest(proxy.url + wires[wire].path, { method: 'POST', agent: false });
  sent.end(question(wire));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  return response;
}

describe('a client', () => {
  it('that goes in the second round ends the request to the upstream at once', async () => {
    const gone = Promise.withResolvers<boolean>();
    const begun = Promise.withResolvers<boolean>();
    const { proxy } = await afterSearch('anthropic', (_, response) => {
      response.on('close', () => {
        gone.resolve(true);
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': alive\n\n');
      begun.resolve(true);
    });
    const response = await opened(proxy, 'anthropic');
    response.resume();
    await begun.promise;
    response.destroy();
    expect(await gone.promise).toBe(true);
  });

  it('that reads slowly slows the upstream down, and heartbeats reach it in the second round', async () => {
    const size = 64 << 20;
    let sent = 0;
    const { proxy } = await afterSearch('anthropic', async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const beat = Buffer.from(`: ${'alive '.repeat(10_000)}\n\n`);
      const closed = new Promise((resolve) => response.once('close', resolve));
      while (sent < size && !response.destroyed) {
        sent += beat.length;
        if (!response.write(beat)) await Promise.race([once(response, 'drain'), closed]);
      }
      response.end();
    });
    const response = await opened(proxy, 'anthropic');
    const [first] = (await once(response, 'data')) as [Buffer];
    expect(first.toString()).toContain('message_start');
    response.pause();
    let before = -1;
    while (sent !== before || sent === 0) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    // What connections and streams hold on the way, and no more.
    expect(sent).toBeLessThan(size / 2);
    response.resume();
    const [next] = (await once(response, 'data')) as [Buffer];
    expect(next.length).toBeGreaterThan(0);
    response.destroy();
  });

  it('gets every call of a turn with real and hidden calls, and the usage of all rounds (DS-95)', async () => {
    const { proxy } = await afterSearch('openai-chat', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const parts = [searchCall('mail', 'search-2'), call('get_weather', {}), call('read_file', {})];
      response.end(turnBytes('openai-chat', true, { parts, id: 'turn-1' }));
    });
    const { body } = await ask(proxy, 'openai-chat');
    expect(body.match(/"id":"id-\w+"/g)).toEqual(['"id":"id-get_weather"', '"id":"id-read_file"']);
    expect(body).toMatch(/"prompt_tokens":20,"completion_tokens":10/);
    expect(body).not.toMatch(/search-[12]/);
  });
});
