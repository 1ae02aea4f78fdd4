import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import type { Seen } from './kafka-watch.ts';

/** How long an effect takes, milliseconds. */
const takesMs = 20;
/** Bytes of the picture that it answers: enough to stand for itself among a step's content. */
const pictureBytes = 4_096;

/** The picture that the effect of a turn answers; a run has its turns from 0 here, the log from 1. */
export function pictureOf(runId: string, turn: number): Buffer {
  return Buffer.alloc(pictureBytes, createHash('sha256').update(`${runId}/${turn}`).digest());
}

export interface Effects {
  readonly url: string;
  /** How often each was done, by `run/turn`: counted outside of what is tested. */
  readonly done: Map<string, number>;
  close(): Promise<void>;
}

/**
 * An MCP server with one tool, `act`, whose effect cannot be undone and must not be repeated. Whoever calls it may be
 * killed as the call comes in, before anything is done, or when it is done and not answered yet.
 */
export async function startEffects(seen: Seen): Promise<Effects> {
  const done = new Map<string, number>();
  const http = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const port = request.socket.remotePort ?? 0;
    const server = new McpServer({ name: 'effects', version: '1.0.0' });
    server.registerTool(
      'act',
      { description: 'Does something that cannot be undone', inputSchema: { run: z.string(), turn: z.number() } },
      async ({ run, turn }) => {
        if (seen('effect begins', port)) return { content: [] };
        const key = `${run}/${turn}`;
        done.set(key, (done.get(key) ?? 0) + 1);
        await sleep(takesMs);
        seen('effect done', port);
        const data = pictureOf(run, turn).toString('base64');
        return {
          content: [
            { type: 'text', text: '"done"' },
            { type: 'image', data, mimeType: 'image/png' },
          ],
        };
      },
    );
    const transport = new StreamableHTTPServerTransport({});
    response.on('close', () => void transport.close());
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    await transport.handleRequest(request, response);
  }

  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    done,
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}
