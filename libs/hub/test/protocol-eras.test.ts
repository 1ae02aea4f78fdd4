import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, McpServer, Server as NewServer } from '@modelcontextprotocol/server';
import type { Tool } from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import type { McpHub } from '@sluice/hub';
import { until } from './waiting.js';

const closing: (() => unknown)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

const none = { command: null, args: [], env: [], url: null, startMs: 10_000 };

function open(server: { readonly command?: string; readonly args?: readonly string[]; readonly url?: string }) {
  const [changed, logged]: [string[], string[]] = [[], []];
  const hub = createMcpHub([{ ...none, id: 'one', ...server }], {
    environment: () => ({ PATH: process.env['PATH'] ?? '' }),
    onChange: (id) => changed.push(id),
    log: (_, message) => logged.push(message),
  });
  closing.push(() => hub.close());
  return { hub, changed, logged };
}

const call = (hub: McpHub, tool: string, args = {}) =>
  hub.call('one', tool, args, {
    signal: new AbortController().signal,
    idempotencyKey: 'k',
    timeoutMs: 10_000,
    pin: null,
  });

/** Listens on a free port of the loopback address. */
async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => (server.closeAllConnections(), server.close()));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

/** A server of before 2025: one stream of events, and a POST for each message. */
async function olderServer(): Promise<{ readonly url: string; cut(): void }> {
  const transports = new Map<string, SSEServerTransport>();
  const http = createServer((request, response) => {
    void (async () => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
      if (request.method === 'GET' && pathname === '/sse') {
        const transport = new SSEServerTransport('/messages', response);
        transports.set(transport.sessionId, transport);
        const server = new Server({ name: 'older', version: '1' }, { capabilities: { tools: {} } });
        server.setRequestHandler(ListToolsRequestSchema, () => ({
          tools: [{ name: 'work', inputSchema: { type: 'object' } }],
        }));
        server.setRequestHandler(CallToolRequestSchema, () => ({
          content: [{ type: 'text', text: '12345678901234567890' }],
        }));
        await server.connect(transport);
      } else if (request.method === 'POST' && pathname === '/messages')
        await transports.get(searchParams.get('sessionId') ?? '')?.handlePostMessage(request, response);
      else response.writeHead(405).end();
    })();
  });
  const url = await listen(http);
  return { url: `${url}/sse`, cut: () => http.closeAllConnections() };
}

describe('a server of any revision of the protocol', () => {
  it('of the newest, over stdio: its tools, a call, and its end', async () => {
    const script = join(import.meta.dirname, '../../../examples/analysis-server/server.mjs');
    const { hub } = open({ command: process.execPath, args: [script] });
    expect(await hub.discover()).toMatchObject([{ tools: [{ name: 'complex-analysis' }, { name: 'reset-workflow' }] }]);
    expect(await call(hub, 'reset-workflow')).toEqual({ status: 'reset' });
  });

  it('of the newest, over HTTP: gets arguments as headers where its schema asks for them (SEP-2243)', async () => {
    const [calls, sent]: [unknown[], string[]] = [[], []];
    const wanting = (header: string, type: string) => ({ type, 'x-mcp-header': header });
    const schemas: Record<string, JsonObject> = {
      work: {
        region: wanting('Region', 'string'),
        inner: { type: 'object', properties: { deep: wanting('Deep', 'integer') } },
        left: wanting('Left', 'string'),
        plain: { type: 'string' },
      },
      wrong: { amount: wanting('Amount', 'number') },
      hidden: {
        'a/b': { type: 'array', items: wanting('Item', 'string') },
        one: wanting('One', 'string'),
        other: wanting('one', 'string'),
      },
      named: { x: wanting('Not a name', 'string') },
    };
    const handler = createMcpHandler(() => {
      const server = new NewServer({ name: 'newest', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler('tools/list', () => ({
        tools: Object.entries(schemas).map(([name, properties]) => ({
          ...{ name, inputSchema: { type: 'object' as const, properties } as Tool['inputSchema'] },
        })),
      }));
      server.setRequestHandler('tools/call', ({ params }) => {
        calls.push(params.name);
        return { content: [{ type: 'text', text: 'done' }] };
      });
      return server;
    });
    const node = toNodeHandler(handler) as RequestListener;
    const url = await listen(
      createServer((request, response) => {
        const { headers } = request;
        for (const [name, value] of Object.entries(headers))
          if (name.startsWith('mcp-param-')) sent.push(`${name}: ${String(value)}`);
        void node(request, response);
      }),
    );
    const { hub } = open({ url });
    const [offer] = await hub.discover();
    const found = offer !== undefined && 'tools' in offer ? offer.tools : [];
    expect(Object.fromEntries(found.map(({ name, headerProblems }) => [name, headerProblems]))).toEqual({
      work: undefined,
      wrong: ['At /properties/amount: only texts, integers and booleans can be headers.'],
      hidden: [
        'At /properties/a~1b/items: only a property of the arguments, or of objects within them, can be a header.',
        'At /properties/other: the header has the same name as that of /properties/one.',
      ],
      named: ['At /properties/x: the name of the header is none that HTTP permits.'],
    });
    expect(await call(hub, 'work', { region: 'Zürich', inner: { deep: 3 }, plain: 'x' })).toBe('done');
    expect(sent.sort()).toEqual(['mcp-param-deep: 3', 'mcp-param-region: =?base64?WsO8cmljaA==?=']);
    await expect(call(hub, 'wrong', { amount: 1 })).rejects.toThrow('as headers in a wrong way');
    expect(calls).toEqual(['work']);
  });

  it('of the newest, over HTTP: says over a stream of its own that its tools have changed', async () => {
    const handler = createMcpHandler(
      () => {
        const server = new McpServer(
          { name: 'newest', version: '1' },
          { capabilities: { tools: { listChanged: true } } },
        );
        server.registerTool('work', { description: 'Works.' }, () => ({ content: [{ type: 'text', text: 'worked' }] }));
        return server;
      },
      { legacy: 'reject' },
    );
    const node = toNodeHandler(handler) as RequestListener;
    const { hub, changed } = open({
      url: `${await listen(createServer(node))}/mcp`,
    });
    expect(await call(hub, 'work')).toBe('worked');
    await until(() => {
      handler.notify.toolsChanged();
      return changed.length > 0;
    });
    expect(changed).toContain('one');
  });

  it('of before Streamable HTTP: over its stream of events, and again after the stream broke', async () => {
    const { url, cut } = await olderServer();
    const { hub } = open({ url });
    expect(await hub.discover()).toMatchObject([{ tools: [{ name: 'work' }] }]);
    expect(await call(hub, 'work')).toBeDefined();
    cut();
    await until(() => hub.status()[0]?.state !== 'ready');
    expect(await call(hub, 'work')).toBeDefined();
  });

  it('that ends when it is asked what it does not know: started again, and spoken to as it expects', async () => {
    const script = `
      import { createInterface } from 'node:readline';
      for await (const line of createInterface({ input: process.stdin })) {
        const { id, method, params } = JSON.parse(line);
        if (id === undefined) continue;
        const results = {
          initialize: { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'n', version: '1' } },
          'tools/list': { tools: [{ name: 'work', inputSchema: { type: 'object' } }] },
          'tools/call': { content: [{ type: 'text', text: 'worked' }] },
        };
        if (results[method] === undefined) process.exit(1);
        process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }) + '\\n');
      }`;
    const { hub, logged } = open({ command: process.execPath, args: ['--input-type=module', '-e', script] });
    expect(await call(hub, 'work')).toBe('worked');
    expect(logged).toEqual([]);
  });
});
