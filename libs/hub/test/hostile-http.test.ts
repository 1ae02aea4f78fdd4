import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { JsonTooLargeError, ToolOutcomeLostError } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import type { McpHub } from '@sluice/hub';
import { until, whatIsThrown } from './waiting.js';

type Answer = (id: number, response: ServerResponse, request: IncomingMessage) => unknown;

interface HostileServer {
  readonly url: string;
  /** Requests so far, by method of HTTP. */
  readonly seen: Record<string, number>;
  /** Answers that were not ended by either side. */
  readonly openAnswers: () => number;
  /** Connections so far. */
  readonly connections: () => number;
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

const json = (id: number, result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, result });
const worked = { content: [{ type: 'text', text: 'worked' }] };
const tool = { name: 'work', inputSchema: { type: 'object' } };

/**
 * Streamable HTTP by hand: all goes well but for what `onCall` does with a call, and `onGet` with the standing
 * stream.
 */
async function start(onCall: Answer, onGet?: (response: ServerResponse) => void): Promise<HostileServer> {
  const seen: Record<string, number> = {};
  let openAnswers = 0;
  const server = createServer((request, response) => {
    seen[request.method ?? ''] = (seen[request.method ?? ''] ?? 0) + 1;
    if (request.method !== 'POST') {
      if (request.method === 'GET' && onGet !== undefined) onGet(response);
      else response.writeHead(405).end();
      return;
    }
    void body(request).then((text) => {
      const { id, method, params } = JSON.parse(text) as {
        id?: number;
        method?: string;
        params?: { protocolVersion: string };
      };
      const answer = (result: unknown): void =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(json(id ?? 0, result));
      if (id === undefined || method === undefined) response.writeHead(202).end();
      else if (method === 'initialize')
        answer({
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'h', version: '1' },
        });
      else if (method === 'tools/list') answer({ tools: [tool] });
      else if (method === 'tools/call') {
        openAnswers++;
        response.on('close', () => openAnswers--);
        void onCall(id, response, request);
      } else answer({});
    });
  });
  let connections = 0;
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/mcp`, seen, openAnswers: () => openAnswers, connections: () => connections };
}

async function body(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += String(piece);
  return text;
}

function open(...servers: readonly HostileServer[]): { hub: McpHub; logged: string[] } {
  const logged: string[] = [];
  const hub = createMcpHub(
    servers.map(({ url }, at) => ({ id: `s${at}`, command: null, args: [], env: [], url, startMs: 5_000 })),
    { environment: () => ({}), onChange: () => undefined, log: (id, message) => logged.push(`${id}: ${message}`) },
  );
  closing.unshift(() => hub.close());
  return { hub, logged };
}

function call(hub: McpHub, server = 's0', timeoutMs = 1_500) {
  const signal = new AbortController().signal;
  return hub.call(server, 'work', {}, { signal, timeoutMs, idempotencyKey: 'k', pin: null });
}

const events = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });
const event = (message: string): string => `event: message\ndata: ${message}\n\n`;
const block = 'z'.repeat(65_536);

async function pour(response: ServerResponse, piece: string | Buffer, bytes: number): Promise<void> {
  response.setMaxListeners(0);
  for (let sent = 0; sent < bytes && !response.destroyed; sent += piece.length)
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
}

const gigabyte = 1_073_741_824;
/** Packed before anybody waits for it. */
const packed = gzipSync(Buffer.alloc(64 * 1_048_576, 32));
/** Each way of misbehaving with a call, and what is thrown for it. */
const faults: readonly (readonly [does: string, onCall: Answer, kind: new (...given: never[]) => Error])[] = [
  ['never answers', () => undefined, ToolOutcomeLostError],
  ['answers after the limit', async (id, response) => { await sleep(1_800); response.writeHead(200, { 'content-type': 'application/json' }).end(json(id, worked)); }, ToolOutcomeLostError],
  ['answers with a gigabyte of JSON', async (id, response) => { response.writeHead(200, { 'content-type': 'application/json' }).write(`{"jsonrpc":"2.0","id":${id},"result":{"a":"`); await pour(response, block, gigabyte); response.end('"}}'); }, JsonTooLargeError],
  ['answers with a gigabyte, packed', (_, response) => response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(packed), JsonTooLargeError],
  ['declares a small length and sends a gigabyte', (_, response) => { response.socket?.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n'); response.socket?.end(block); }, ToolOutcomeLostError],
  ['answers with one event of a gigabyte', async (_, response) => { events(response).write('data: '); await pour(response, block, gigabyte); }, JsonTooLargeError],
  ['answers with lines of an event that never ends', async (_, response) => { await pour(events(response), `data: ${block}\n`, gigabyte); }, JsonTooLargeError],
  ['answers with an endless stream of comments', async (_, response) => { await pour(events(response), ': still there\n\n'.repeat(1_000), Infinity); }, ToolOutcomeLostError],
  ['floods us with notifications', async (_, response) => { await pour(events(response), event('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'), Infinity); }, ToolOutcomeLostError],
  ['sends us elsewhere', (_, response) => response.writeHead(307, { location: 'http://127.0.0.2:9/mcp' }).end(), ToolOutcomeLostError],
  ['sends us in a circle', (_, response) => response.writeHead(307, { location: '/mcp' }).end(), ToolOutcomeLostError],
  ['answers with a page for people', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'), ToolOutcomeLostError],
  ['answers with half of its JSON', (id, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${id}`), ToolOutcomeLostError],
  ['breaks the connection', (_, response) => response.destroy(), ToolOutcomeLostError],
  ['fails with the secret of somebody', (_, response) => response.writeHead(500).end('Bearer sk-planted-0815'), ToolOutcomeLostError],
]; // prettier-ignore

const fine = [{ type: 'text', text: 'fine' }];
const asJson: Answer = (id, response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(json(id, oddly));
let oddly: unknown;

describe('a server that writes null for what it leaves out', () => {
  const waysToAnswer: readonly (readonly [string, Answer])[] = [
    ['as JSON', asJson],
    ['as events', (id, response) => events(response).end(event(json(id, oddly)))],
  ];
  it.each(
    waysToAnswer.flatMap(([way, answer]) =>
      [
        ['isError', { content: fine, isError: null }],
        ['_meta', { content: fine, _meta: null }],
        ['structuredContent', { content: fine, structuredContent: null }],
        ['members of a block', { content: [{ ...fine[0], annotations: null, _meta: null }] }],
      ].map(([what, result]) => ({ way, answer, what, result })),
    ),
  )('for $what is understood, $way', async ({ answer, result }) => {
    oddly = result;
    const { hub } = open(await start(answer));
    expect(await call(hub, 's0', 20_000)).toBe('fine');
  });

  it('keeps a null that the tool itself gives', async () => {
    oddly = { content: fine, structuredContent: { found: null } };
    const { hub } = open(await start(asJson));
    expect(await call(hub, 's0', 20_000)).toEqual({ found: null });
  });

  it('and one whose answer is no result are distinguished from one that was lost', async () => {
    oddly = { content: 'fine' };
    const { hub } = open(await start(asJson));
    await expect(call(hub, 's0', 20_000)).rejects.toMatchObject({
      name: 'ToolOutcomeLostError',
      message: 'What work answered is no result of a tool.',
    });
  });
});

describe('a hostile server over Streamable HTTP: the others go on, and it costs a bounded time and memory', () => {
  it.each(faults.map(([does, onCall, kind]) => ({ does, onCall, kind })))('$does', async ({ onCall, kind }) => {
    const hostile = await start(onCall);
    const well = await start((id, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(json(id, worked)),
    );
    const { hub, logged } = open(hostile, well);
    await call(hub, 's1');
    const before = process.memoryUsage().rss;
    const started = performance.now();
    let over = false;
    const running = whatIsThrown(call(hub)).finally(() => (over = true));
    let slowest = 0;
    do {
      const asked = performance.now();
      expect(await call(hub, 's1', 20_000)).toBe('worked');
      slowest = Math.max(slowest, performance.now() - asked);
      await sleep(20);
    } while (!over);
    const error = (await running) as Error;
    expect(error).toBeInstanceOf(kind);
    expect(error.message).not.toContain('planted');
    expect(logged.join()).not.toContain('planted');
    expect(slowest).toBeLessThan(4_000);
    expect(performance.now() - started).toBeLessThan(4_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1_048_576);
    // Nothing of the call goes on after it: an endless stream has been ended.
    await until(() => hostile.openAnswers() === 0);
  });

  it('is answered once, though its stream says more and stays open; the stream is ended', async () => {
    const hostile = await start((id, response) => {
      events(response).write(event(json(id, worked)));
      response.write(event(json(id, { content: [{ type: 'text', text: 'again' }] })));
    });
    const { hub } = open(hostile);
    expect(await call(hub)).toBe('worked');
    await until(() => hostile.openAnswers() === 0);
    expect(await call(hub)).toBe('worked');
  });

  it('is asked again over the connections that are there, whatever it sends on streams that are not read', async () => {
    const server = await start(
      (id, response) => events(response).end(event(json(id, worked))),
      (response) => response.writeHead(405).end('Nothing stands here.'),
    );
    const { hub } = open(server);
    for (let n = 0; n < 20; n++) expect(await call(hub)).toBe('worked');
    expect(server.connections()).toBeLessThanOrEqual(3);
  });

  it('ends its standing stream at once, again and again: asked for no more than once a second', async () => {
    const hostile = await start(
      (id, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(json(id, worked)),
      (response) => events(response).end('retry: 0\n\n'),
    );
    const { hub } = open(hostile);
    await call(hub);
    await sleep(2_500);
    expect(hostile.seen['GET']).toBeLessThanOrEqual(4);
    expect(hostile.seen['GET']).toBeGreaterThanOrEqual(2);
    expect(await call(hub)).toBe('worked');
  });

  it('asks questions without end over its standing stream: cut off', async () => {
    const hostile = await start(
      (id, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(json(id, worked)),
      // Many in a piece: each is answered by a request, and a busy machine makes few of those a second.
      (response) =>
        void pour(events(response), event('{"jsonrpc":"2.0","id":1,"method":"roots/list"}').repeat(2_000), Infinity),
    );
    const { hub, logged } = open(hostile);
    // On a busy machine the flood comes before the answer, and the call ends with what is cut off.
    await call(hub, 's0', 20_000).catch(() => undefined);
    await until(() => logged.some((line) => line.includes('was cut off')));
    expect(hostile.seen['POST']).toBeLessThan(3_000);
  });
});
