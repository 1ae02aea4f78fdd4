import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Script, ScriptedUpstream, startTestProxy, type TestProxy } from './proxying.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function between(
  script: Script,
  configuration = (url: string) => `proxy: { upstreams: { main: { api: openai, url: '${url}' } } }`,
  secrets?: Readonly<Record<string, string>>,
): Promise<{ upstream: ScriptedUpstream; proxy: TestProxy }> {
  const upstream = await ScriptedUpstream.start(script);
  const proxy = await startTestProxy(configuration(upstream.url), secrets);
  open.push(proxy, upstream);
  return { upstream, proxy };
}

interface Got {
  readonly status: number;
  readonly statusText: string;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

function ask(
  url: string,
  {
    method = 'POST',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers, agent: false }, (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          statusText: response.statusMessage ?? '',
          rawHeaders: response.rawHeaders,
          body: Buffer.concat(chunks),
        });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const chat = '/v1/chat/completions';
const question = '{"model": "gpt-x",\n "messages":[{"role":"user","content":"hi"}], "n" : 1.0}';

describe('a request that nothing changes', () => {
  it('reaches the upstream with every byte of its body, and its headers in their spelling (DS-09, DS-13, DS-137, DS-138)', async () => {
    const { upstream, proxy } = await between((_, response) => void response.end('{}'));
    await ask(proxy.url + chat, {
      headers: { 'X-Custom-Header': 'Wörter'.normalize('NFD').replace(/[^ -~]/g, ''), Authorization: 'Bearer client' },
      body: question,
    });
    const [received] = upstream.received;
    expect(received?.body.toString()).toBe(question);
    expect(received?.rawHeaders).toEqual(expect.arrayContaining(['X-Custom-Header', 'Authorization', 'Bearer client']));
  });

  it('gets the upstream’s status, headers and body as they are', async () => {
    const zipped = gzipSync('{"a":1}');
    const { proxy } = await between((_, response) => {
      response.writeHead(418, 'Teapot Indeed', [
        'Content-Encoding',
        'gzip',
        'X-Two',
        'a',
        'X-Two',
        'b',
        'Content-Length',
        String(zipped.length),
      ]);
      response.end(zipped);
    });
    const got = await ask(proxy.url + chat, { body: question });
    expect([got.status, got.statusText]).toEqual([418, 'Teapot Indeed']);
    expect(got.body).toEqual(zipped);
    expect(got.rawHeaders.join(' ')).toMatch(/Content-Encoding gzip X-Two a X-Two b/);
  });

  it.each([
    ['GET', '/v1/models?limit=3', ''],
    ['GET', '/v1/anything/else', ''],
    ['DELETE', '/v1/files/f1', ''],
    ['POST', '/v1/embeddings', '{"input": "x"}'],
    ['POST', chat, '{"model": broken'],
    ['POST', chat, ''],
    ['POST', chat, '[]'],
  ])('passes %s %s %s', async (method, path, body) => {
    const { upstream, proxy } = await between(
      ({ target, body: got }, response) => void response.end(`${target} ${got.toString()}`),
    );
    expect((await ask(proxy.url + path, { method, body })).body.toString()).toBe(`${path} ${body}`);
    expect(upstream.received[0]?.method).toBe(method);
  });

  it('gets a 429 with its Retry-After, and a redirect without it being followed', async () => {
    const { proxy } = await between(({ target }, response) => {
      if (target === chat) response.writeHead(429, { 'retry-after': '17' }).end('{"error":{"message":"slow"}}');
      else response.writeHead(307, { location: 'http://127.0.0.1:1/elsewhere' }).end();
    });
    const limited = await ask(proxy.url + chat, { body: question });
    expect([limited.status, limited.body.toString()]).toEqual([429, '{"error":{"message":"slow"}}']);
    expect(limited.rawHeaders).toContain('17');
    const moved = await ask(`${proxy.url}/v1/moved`, { method: 'GET' });
    expect([moved.status, moved.rawHeaders.includes('http://127.0.0.1:1/elsewhere')]).toEqual([307, true]);
  });

  it('passes a body of 20 MB, and one that is longer than what is read', async () => {
    const { upstream, proxy } = await between(({ body }, response) => void response.end(String(body.length)));
    for (const size of [20 << 20, 70 << 20]) {
      const got = await ask(proxy.url + chat, { body: Buffer.alloc(size, 0x20) });
      expect(got.body.toString()).toBe(String(size));
      upstream.received.length = 0;
    }
  });
});

describe('an upstream that fails', () => {
  it('is unreachable: 502 in the words of the API', async () => {
    const { proxy } = await between(
      () => undefined,
      () => "proxy: { upstreams: { main: { api: anthropic, url: 'http://127.0.0.1:9' } } }",
    );
    const got = await ask(`${proxy.url}/v1/messages`, { body: '{"model":"m"}' });
    expect(got.status).toBe(502);
    expect(JSON.parse(got.body.toString())).toMatchObject({
      type: 'error',
      error: { message: expect.stringContaining('main') },
    });
  });

  it('hangs: 504 after its time', async () => {
    const { proxy } = await between(
      () => undefined,
      (url) => `proxy: { upstreams: { main: { api: openai, url: '${url}', timeout_seconds: 1 } } }`,
    );
    expect((await ask(proxy.url + chat, { body: question })).status).toBe(504);
  });

  it('cuts its answer: so is the client’s', async () => {
    const { proxy } = await between((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"a"');
      setTimeout(() => response.destroy(), 20);
    });
    await expect(ask(proxy.url + chat, { body: question })).rejects.toThrow(/aborted|hang up/);
  });

  it('is left at once when the client goes', async () => {
    const gone = Promise.withResolvers<boolean>();
    const { proxy } = await between((_, response) => {
      response.on('close', () => {
        gone.resolve(true);
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {}\n\n');
    });
    const sent = httpRequest(proxy.url + chat, { method: 'POST', agent: false });
    sent.end(question);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await once(response, 'data');
    response.destroy();
    await gone.promise;
  });
});

describe('the upstream of a request', () => {
  const two = (a: string, b: string): string => `
proxy:
  upstreams:
    first: { api: openai, url: '${a}', models: ['gpt-*'], api_key_env: FIRST_KEY }
    second: { api: openai, url: '${b}/base' }
  models:
    fast: { upstream: first, name: gpt-fast, fallback: [steady] }
    steady: { upstream: second, name: other-model }
`;

  async function both(first: Script): Promise<{ a: ScriptedUpstream; b: ScriptedUpstream; proxy: TestProxy }> {
    const a = await ScriptedUpstream.start(first);
    const b = await ScriptedUpstream.start(({ target }, response) => void response.end(`second ${target}`));
    const proxy = await startTestProxy(two(a.url, b.url), { FIRST_KEY: 'sk-of-sluice' });
    open.push(proxy, a, b);
    return { a, b, proxy };
  }

  it('is found by the model’s name; Sluice’s key replaces the client’s, which goes on elsewhere', async () => {
    const { a, b, proxy } = await both((_, response) => void response.end('first'));
    const headers = { authorization: 'Bearer sk-of-client' };
    expect((await ask(proxy.url + chat, { body: '{"model":"gpt-9"}', headers })).body.toString()).toBe('first');
    expect((await ask(proxy.url + chat, { body: '{"model":"llama"}', headers })).body.toString()).toBe(
      `second /base${chat}`,
    );
    expect(a.received[0]?.headers.authorization).toBe('Bearer sk-of-sluice');
    expect(b.received[0]?.headers.authorization).toBe('Bearer sk-of-client');
    expect(proxy.lines() + (await proxy.metrics())).not.toMatch(/sk-of/);
  });

  it('gets Sluice’s key on no other path than those that it is for, however the path is written', async () => {
    const { upstream, proxy } = await between(
      ({ target }, response) => void response.end(target),
      (url) =>
        `proxy: { upstreams: { main: { api: openai, url: '${url}/base', paths: [/v1/chat/], api_key_env: KEY } } }`,
      { KEY: 'sk-of-sluice' },
    );
    const statusOf = async (path: string): Promise<number | undefined> => {
      const { hostname, port } = new URL(proxy.url);
      const sent = httpRequest({ hostname, port, path, agent: false }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    for (const path of ['/v1/files', '/v1/chat/../files', '/v1/chat/%2e%2e/files', '/v1/chat\\..\\files', '/v1//files'])
      expect([path, await statusOf(path)]).toEqual([path, 503]);
    for (const path of [
      '/v1/chat/..%2Ffiles',
      '/v1/chat%2f..%2ffiles',
      '/v1/chat/%252e%252e/files',
      '/v1/chat/..;/files',
    ])
      expect([path, await statusOf(path)]).toEqual([path, 400]);
    expect(upstream.received).toEqual([]);
    expect(await statusOf('//v1/chat/%63ompletions/x?y=/../z')).toBe(200);
    expect(upstream.received.map(({ target }) => target)).toEqual(['/base/v1/chat/completions/x?y=/../z']);
  });

  it('has another name for the model, and another model where it fails', async () => {
    const { a, b, proxy } = await both((_, response) => void response.writeHead(503).end('no'));
    const got = await ask(proxy.url + chat, { body: '{"x": [1.50], "model" : "fast"}' });
    expect(got.body.toString()).toBe(`second /base${chat}`);
    expect(a.received[0]?.body.toString()).toBe('{"x": [1.50], "model" : "gpt-fast"}');
    expect(b.received[0]?.body.toString()).toBe('{"x": [1.50], "model" : "other-model"}');
    expect(await proxy.metrics()).toContain('sluice_proxy_fallbacks_total{upstream="first"} 1');
  });
});
