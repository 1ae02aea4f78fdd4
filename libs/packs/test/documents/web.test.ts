import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolUnavailableError, ToolUserError } from '@sluice/core';
import { openSearch, openWeb, ParsedDocuments } from '@sluice/packs';
import type { SearchHit, WebAccess } from '@sluice/packs';
import { isPublic } from '../../../isolation/src/network/addresses.js';
import { guardedConnect } from '@sluice/isolation';
import { patience } from '../../../sources/test/configured.js';
import { html, json, serve, to } from './web-server.js';
import type { WebServer } from './web-server.js';

const clock = { now: () => Date.now() };
const parsed = new ParsedDocuments();

describe('addresses of the public internet', () => {
  it.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111', '[2a00:1450:4001::1]'])('%s is one', (address) =>
    expect(isPublic(address)).toBe(true),
  );
  it.each(
    (
      '127.0.0.1 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255 192.0.2.1 ' +
      '198.18.0.1 ::1 :: fe80::1 fc00::1 ff02::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 2002:7f00:1:: 2001:db8::1 fe80::1%eth0 no'
    ).split(' '),
  )('%s is none', (address) => expect(isPublic(address)).toBe(false));
});

describe('what tools may fetch', () => {
  let server: WebServer;
  let other: WebServer;
  const open = (privateHosts: readonly string[], resolve?: Parameters<typeof openWeb>[0]['resolve']): WebAccess =>
    openWeb({ privateHosts, search: null, parsed, clock, ...(resolve === undefined ? {} : { resolve }) });
  const page = (url: string, web = open([server.host])) => web.page(url, patience());

  beforeAll(async () => {
    other = await serve({ '/secret': html('secret') });
    const robots = 'User-agent: *\nDisallow: /closed\n\nUser-agent: Sluice\nDisallow: /closed\nDisallow: /not-sluice';
    server = await serve({
      '/robots.txt': (response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end(robots),
      '/page': html('Records are kept.'),
      '/closed': html('closed'),
      '/not-sluice': html('closed'),
      '/to-page': to('/page'),
      '/to-metadata': to('http://169.254.169.254/latest/meta-data'),
      '/to-other': to(`http://${other.host}/secret`),
      '/to-file': to('file:///etc/passwd'),
      '/round': to('/round'),
      '/huge': (response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(5_300_000)),
      '/bomb': (response) =>
        void response
          .writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
          .end(gzipSync(Buffer.alloc(60_000_000))),
      '/ansi': (response) =>
        void response
          .writeHead(200, { 'content-type': 'text/html; charset=windows-1252' })
          .end(Buffer.from('<meta charset="utf-8"><p>Größe</p>', 'latin1')),
      '/ansi-text': (response) =>
        void response
          .writeHead(200, { 'content-type': 'text/plain; charset=Shift_JIS' })
          .end(Buffer.from([0x90, 0xbf, 0x8b, 0x81])),
      '/picture': (response) => void response.writeHead(200, { 'content-type': 'image/png' }).end('x'),
    });
  });
  afterAll(async () => {
    await server.close();
    await other.close();
  });

  it('is a page of a permitted host, with its hash and what is read of it; redirects are followed', async () => {
    expect(await page(`http://${server.host}/page`)).toMatchObject({
      text: 'Rules\n\nRecords are kept.',
      format: 'html',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await page(`http://${server.host}/to-page`)).toMatchObject({ path: `http://${server.host}/page` });
    expect(server.requests.at(-1)?.headers).toMatchObject({ 'user-agent': 'Sluice' });
  });

  it.each([
    ['http://127.0.0.1/', /not on the public internet/],
    ['http://127.1/', /not on the public internet/],
    ['http://2130706433/', /not on the public internet/],
    ['http://0x7f.1/', /not on the public internet/],
    ['http://[::1]/', /not on the public internet/],
    ['http://[::ffff:127.0.0.1]/', /not on the public internet/],
    ['http://localhost/', /not on the public internet/],
    ['http://169.254.169.254/latest/meta-data', /not on the public internet/],
    ['http://8.8.8.8:22/', /Port 22/],
    ['ftp://example.org/', /Only http and https/],
    ['file:///etc/passwd', /Only http and https/],
    ['http://user:secret@example.org/', /user or a password/],
    ['page', /no address/],
  ])('is not %s', async (url, why) => {
    const error = await page(url, open([])).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ToolUserError);
    expect((error as Error).message).toMatch(why);
    expect((error as Error).message).not.toContain('secret@');
  });

  it('is read in the charset that its header names', async () => {
    expect(await page(`http://${server.host}/ansi`)).toMatchObject({ text: 'Größe' });
    expect(await page(`http://${server.host}/ansi-text`)).toMatchObject({ text: '請求' });
  });

  it('is not fetched where robots.txt cannot be read, with the reason; the next call asks again', async () => {
    const state = { status: 503 };
    const failing = await serve({
      '/robots.txt': (response) => void response.writeHead(state.status).end(),
      '/page': html('Records are kept.'),
    });
    const web = open([failing.host]);
    const address = `http://${failing.host}/page`;
    const why = async (): Promise<unknown> => page(address, web).catch((error: unknown) => error);
    expect(await why()).toEqual(
      new ToolUnavailableError(
        `The server of ${failing.host} answers 503 for its robots.txt, without which no page is fetched.`,
      ),
    );
    state.status = 404;
    expect(await page(address, web)).toMatchObject({ format: 'html' });
    await failing.close();
    const away = open([failing.host]);
    expect(await page(address, away).catch((error: unknown) => error)).toEqual(
      new ToolUnavailableError(`${failing.host} does not answer.`),
    );
    const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND nowhere.example'), { code: 'ENOTFOUND' });
    const offline = open([], (_, callback) => callback(unknown, []));
    await expect(page('http://nowhere.example/', offline)).rejects.toThrow(/no host of the name nowhere\.example/);
  });

  it.each([
    ['/to-metadata', /169\.254\.169\.254 is not on the public internet/],
    ['/to-other', /Port \d+|not on the public internet/],
    ['/to-file', /Only http and https/],
    ['/round', /more than 5 times/],
    ['/huge', /more than 5242880 bytes/],
    ['/bomb', /more than 5242880 bytes/],
    ['/picture', /image\/png/],
    ['/missing', /answers 404/],
    ['/closed', /robots\.txt/],
    ['/not-sluice', /robots\.txt/],
  ])('is not %s of a permitted host', async (path, why) => {
    await expect(page(`http://${server.host}${path}`)).rejects.toThrow(why);
    expect(other.requests).toEqual([]);
  });

  it('is no host that resolves to a private address, also where only the second answer does', async () => {
    let asked = 0;
    const rebinding = open([], (_, callback) =>
      callback(null, [{ address: asked++ === 0 ? '10.0.0.1' : '127.0.0.1', family: 4 }]),
    );
    await expect(page('http://rebinding.example/', rebinding)).rejects.toThrow(
      /rebinding\.example is not on the public/,
    );
    const mixed = open([], (_, callback) =>
      callback(null, [
        { address: '8.8.8.8', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]),
    );
    await expect(page('http://mixed.example/', mixed)).rejects.toThrow(/mixed\.example is not on the public/);
  });

  it('is no other port of a private host that is permitted with its port', async () => {
    const resolve: Parameters<typeof openWeb>[0]['resolve'] = (_, callback) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    const port = new URL(`http://${server.host}`).port;
    const address = `http://named.example:${port}/page`;
    for (const permitted of [`named.example:${port}`, 'named.example', 'NAMED.example'])
      expect(await page(address, open([permitted], resolve))).toMatchObject({ path: address });
    const other = open([`named.example:${port}`], resolve);
    await expect(page('http://named.example/page', other)).rejects.toThrow(/named\.example is not on the public/);
    const named = (url: string) => guardedConnect(['a.example:80', 'a.example:8443']).isNamed(new URL(url));
    expect(['http://a.example/', 'https://a.example/', 'https://a.example:8443/'].map(named)).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe('web_search (D-T21)', () => {
  const found = (
    server: WebServer,
    provider: 'tavily' | 'searxng' | 'brave',
    key?: string,
  ): Promise<readonly SearchHit[]> => {
    const url = provider === 'searxng' ? `http://${server.host}` : `http://${server.host}/${provider}`;
    const search = openSearch({ provider, url, apiKeyEnv: 'KEY' }, () => key);
    return openWeb({ privateHosts: [], search, parsed, clock }).search(
      { query: 'invoice & tax', count: 2 },
      patience(),
    );
  };
  const hit = { title: 'GoBD', url: 'https://example.org/gobd' };
  let server: WebServer;
  beforeAll(async () => {
    server = await serve({
      '/tavily': json({
        query: 'q',
        results: [{ ...hit, content: 'Ten years.', score: 0.9, published_date: '2026-01-01' }],
        response_time: 1,
      }),
      '/search': json({
        results: [{ ...hit, content: 'Ten\n years.', engine: 'x' }, { ...hit, url: 'javascript:alert(1)' }, null],
      }),
      '/brave': json({
        type: 'search',
        web: { type: 'search', results: [{ ...hit, description: '<strong>Ten</strong> years.' }, hit, hit] },
      }),
    });
  });
  afterAll(() => server.close());

  it('asks Tavily', async () => {
    expect(await found(server, 'tavily', 'tvly-key')).toEqual([
      { ...hit, text: 'Ten years.', published: '2026-01-01' },
    ]);
    const { method, headers, body } = server.requests.at(-1) ?? {};
    expect([method, headers?.authorization]).toEqual(['POST', 'Bearer tvly-key']);
    expect(JSON.parse(String(body))).toMatchObject({ query: 'invoice & tax', max_results: 2 });
  });

  it('asks SearXNG, without a key, and takes no hit that is no page', async () => {
    expect(await found(server, 'searxng')).toEqual([{ ...hit, text: 'Ten years.' }]);
    expect(server.requests.at(-1)?.url).toBe('/search?q=invoice+%26+tax&format=json');
  });

  it('asks Brave', async () => {
    expect(await found(server, 'brave', 'brave-key')).toHaveLength(2);
    expect((await found(server, 'brave', 'brave-key'))[0]).toEqual({ ...hit, text: 'Ten years.' });
    expect(server.requests.at(-1)).toMatchObject({ headers: { 'x-subscription-token': 'brave-key' } });
  });

  it('says why there is no answer, and never the key', async () => {
    const why = async (
      answers: Parameters<typeof serve>[0],
      provider: 'tavily' | 'searxng' | 'brave',
      key?: string,
    ) => {
      const failing = await serve(answers);
      const error = await found(failing, provider, key).catch((thrown: unknown) => thrown);
      await failing.close();
      expect(error).toBeInstanceOf(ToolUnavailableError);
      expect((error as Error).message).not.toContain('tvly-key');
      return (error as Error).message;
    };
    const status = (code: number) => (response: { writeHead(code: number): { end(): void } }) =>
      response.writeHead(code).end();
    expect(await why({ '/tavily': status(401) }, 'tavily', 'tvly-key')).toMatch(/does not accept the key/);
    expect(await why({ '/tavily': status(429) }, 'tavily', 'tvly-key')).toMatch(/limit is used up/);
    expect(await why({ '/search': status(403) }, 'searxng')).toMatch(/json under search\.formats/);
    expect(await why({ '/search': (response) => void response.writeHead(200).end('<html>') }, 'searxng')).toMatch(
      /cannot be read/,
    );
    expect(await why({}, 'tavily')).toMatch(/KEY is not set/);
    const none = openWeb({ privateHosts: [], search: null, parsed, clock });
    expect(() => none.search({ query: 'q', count: 1 }, patience())).toThrow(/web\.search/);
  });
});
