import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createMcpHandler, inputRequired, Server } from '@modelcontextprotocol/server';
import { z } from 'zod';

export interface FormServer {
  readonly url: string;
  /** How often each call began, and was done behind its form, by its argument. */
  readonly begun: ReadonlyMap<string, number>;
  readonly done: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** An MCP server whose tools `book` and `look` ask the person for a seat before they do anything. */
export async function formServer(): Promise<FormServer> {
  const counts = { begun: new Map<string, number>(), done: new Map<string, number>() };
  const { begun, done } = counts;
  const sessions = new Map<string, StreamableHTTPServerTransport>();

  async function opened(): Promise<StreamableHTTPServerTransport> {
    const server = new McpServer({ name: 'seats', version: '1.0.0' });
    for (const name of ['book', 'look'])
      server.registerTool(
        name,
        { description: 'Asks for a seat.', inputSchema: { on: z.string() } },
        async ({ on }) => {
          count(begun, on);
          const { action, content } = await server.server.elicitInput({
            message: `Which seat for ${on}?`,
            requestedSchema: { type: 'object', properties: { seat: { type: 'string' } }, required: ['seat'] },
          });
          if (action !== 'accept') return { content: [{ type: 'text', text: `No seat: ${action}` }] };
          count(done, on);
          return { content: [{ type: 'text', text: `Seat ${String(content?.['seat'])}` }] };
        },
      );
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    return transport;
  }

  return listening((request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id']));
    Promise.resolve(known ?? opened())
      .then((transport) => transport.handleRequest(request, response))
      .catch((error: unknown) => response.destroy(error as Error));
  }, counts);
}

/** The same tools by a server of 2026-07-28, which keeps nothing open while the person thinks. */
export async function newerFormServer(): Promise<FormServer> {
  const counts = { begun: new Map<string, number>(), done: new Map<string, number>() };
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'newer', version: '1.0.0' }, { capabilities: { tools: {} } });
    const inputSchema = { type: 'object', properties: { on: { type: 'string' } } } as const;
    server.setRequestHandler('tools/list', () => ({ tools: ['book', 'look'].map((name) => ({ name, inputSchema })) }));
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
      const on = String(params.arguments?.['on']);
      const answer = mcpReq.inputResponses?.['seat'] as { readonly content?: { readonly seat?: string } } | undefined;
      if (answer !== undefined) {
        count(counts.done, on);
        return { content: [{ type: 'text', text: `Seat ${answer.content?.seat}` }] };
      }
      count(counts.begun, on);
      const seat = inputRequired.elicit({
        message: `Which seat for ${on}?`,
        requestedSchema: { type: 'object', properties: { seat: { type: 'string' } }, required: ['seat'] },
      });
      return inputRequired({ inputRequests: { seat }, requestState: on });
    });
    return server;
  });
  return listening(toNodeHandler(handler) as RequestListener, counts);
}

function count(map: Map<string, number>, on: string): void {
  map.set(on, (map.get(on) ?? 0) + 1);
}

async function listening(handler: RequestListener, counts: Pick<FormServer, 'begun' | 'done'>): Promise<FormServer> {
  const http = createServer(handler);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    ...counts,
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        http.closeAllConnections();
        http.close(() => resolve());
      }),
  };
}
