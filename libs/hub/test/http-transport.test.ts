import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Client } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from '@jest/globals';
import { HttpTransport } from '../src/http-transport.js';
import { until, whatIsThrown } from './waiting.js';

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The method of the message, if it is one. */
  readonly message: string;
}

const closing: (() => unknown)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

/** A server whose streams can be resumed, as their events have ids; `onCall` answers a call of a tool. */
async function connected(onCall: (id: number, response: ServerResponse, asked: Asked) => unknown) {
  const asked: Asked[] = [];
  const streams = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const piece of request.setEncoding('utf8')) text += String(piece);
      const { method = '', url = '', headers } = request;
      const message = text === '' ? {} : (JSON.parse(text) as { id?: number; method?: string; params?: object });
      const one = { method, url, headers, message: message.method ?? '' };
      asked.push(one);
      if (method === 'GET') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: g-1\nretry: 10\ndata:\n\n');
        streams.add(response);
        response.on('close', () => streams.delete(response));
      } else if (message.id === undefined) response.writeHead(202).end();
      else if (message.method === 'tools/call') onCall(message.id, response, one);
      else {
        const result = { ...message.params, capabilities: {}, serverInfo: { name: 's', version: '1' } };
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
      }
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const transport = new HttpTransport(
    new URL(`http://127.0.0.1:${(server.address() as { port: number }).port}/mcp`),
    null,
  );
  const client = new Client({ name: 'test', version: '1' });
  // As a connection does: the transport is told of each answer.
  transport.onmessage = (message) => {
    if ('id' in message && !('method' in message)) transport.answered(message);
  };
  await client.connect(transport);
  closing.push(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  const call = (timeout = 3_000) => client.callTool({ name: 'work', arguments: {} }, { timeout });
  await until(() => streams.size === 1);
  return { call, asked, streams, transport };
}

const events = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });
const failure = (id: number): string => JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message: 'no' } });
const worked = (id: number): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'worked' }] } });

describe('streams of a server that can resume them', () => {
  it('are not resumed for calls that were answered, be it with an error', async () => {
    const { call, streams } = await connected((id, response) =>
      events(response).end(`id: c-${id}\ndata: ${failure(id)}\n\n`),
    );
    for (let n = 0; n < 6; n++) await whatIsThrown(call());
    await sleep(2_500);
    expect(streams.size).toBe(1);
  });

  it('are resumed for a call that waits, and end when no call waits any more', async () => {
    const { call, streams, asked } = await connected((id, response) =>
      events(response).end(`id: c-${id}\nretry: 10\ndata:\n\n`),
    );
    const calls = Array.from({ length: 6 }, () => whatIsThrown(call(2_500)));
    await until(() => streams.size > 1);
    expect(asked.some(({ headers }) => /^c-/.test(String(headers['last-event-id'])))).toBe(true);
    await Promise.all(calls);
    await until(() => streams.size === 1);
    await sleep(1_500);
    expect(streams.size).toBe(1);
  });

  it('the one for unsolicited messages comes back after that', async () => {
    const { call, streams, asked } = await connected((id, response) =>
      events(response).end(`id: c-${id}\ndata: ${failure(id)}\n\n`),
    );
    for (let n = 0; n < 5; n++) await whatIsThrown(call());
    const before = asked.filter(({ method }) => method === 'GET').length;
    for (const stream of streams) stream.end();
    await until(() => streams.size === 1 && asked.filter(({ method }) => method === 'GET').length > before);
  });
});

describe('a call over HTTP', () => {
  it('is not sent on to where it is redirected once it was abandoned', async () => {
    const { call, asked } = await connected((_, response, { url }) => {
      if (url === '/mcp') response.writeHead(307, { location: '/other' }).write('wait');
    });
    await whatIsThrown(call(300));
    await sleep(1_500);
    expect(asked.filter(({ message }) => message === 'tools/call').map(({ url }) => url)).toEqual(['/mcp']);
  });

  it('follows a redirect within its origin while it is waited for', async () => {
    const { call } = await connected((id, response, { url }) =>
      url === '/mcp'
        ? response.writeHead(307, { location: '/other' }).end()
        : response.writeHead(200, { 'content-type': 'application/json' }).end(worked(id)),
    );
    expect(await call()).toMatchObject({ content: [{ text: 'worked' }] });
  });

  it('says who asks, and that nothing should be packed', async () => {
    const { call, asked } = await connected((id, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(worked(id)),
    );
    await call();
    expect(asked.at(-1)?.headers).toMatchObject({
      'user-agent': 'sluice',
      'accept-encoding': 'identity',
      accept: 'application/json, text/event-stream',
    });
  });

  it.each(['application/json', 'text/event-stream'])('is refused at once if its answer is packed: %s', async (type) => {
    const { call } = await connected((id, response) =>
      response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(gzipSync(worked(id))),
    );
    expect(await whatIsThrown(call())).toMatchObject({
      name: 'TooLargeAnswer',
      message: expect.stringContaining('packed (gzip)'),
    });
  });

  it('reads an answer that begins with a byte order mark, and a type in capitals', async () => {
    const { call } = await connected((id, response) =>
      response.writeHead(200, { 'content-type': 'Application/JSON' }).end(`\uFEFF${worked(id)}`),
    );
    expect(await call()).toMatchObject({ content: [{ text: 'worked' }] });
  });
});
