import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

export interface ProgressServer {
  readonly url: string;
  /** How often each call was made, by its argument. */
  readonly made: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** An MCP server whose tool `work` cannot be repeated safely, and says how far it is at each of so many steps. */
export async function progressServer(steps: number, stepMs: number): Promise<ProgressServer> {
  const made = new Map<string, number>();
  const http = createServer((request, response) => {
    const server = new McpServer({ name: 'progress', version: '1.0.0' });
    server.registerTool(
      'work',
      { description: 'Does something that cannot be undone.', inputSchema: { on: z.string() } },
      async ({ on }, { _meta, sendNotification }) => {
        made.set(on, (made.get(on) ?? 0) + 1);
        for (let progress = 1; progress <= steps; progress++) {
          await new Promise((resolve) => setTimeout(resolve, stepMs));
          const progressToken = _meta?.progressToken;
          if (progressToken === undefined) continue;
          await sendNotification({
            method: 'notifications/progress',
            params: { progressToken, progress, total: steps, message: on },
          });
        }
        return { content: [{ type: 'text', text: `Done: ${on}` }] };
      },
    );
    const transport = new StreamableHTTPServerTransport({});
    response.on('close', () => void transport.close());
    server
      .connect(transport as Parameters<typeof server.connect>[0])
      .then(() => transport.handleRequest(request, response))
      .catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    made,
    close: () =>
      new Promise((resolve) => {
        http.closeAllConnections();
        http.close(() => resolve());
      }),
  };
}
