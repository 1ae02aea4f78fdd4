import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

export interface SlowServer {
  readonly url: string;
  /** How often each call came, by its idempotency key. */
  readonly calls: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** An MCP server over Streamable HTTP with one tool, `wait`, which takes its time and counts who asked. */
export async function slowServer(takesMs: number): Promise<SlowServer> {
  const calls = new Map<string, number>();
  const http = createServer((request, response) => {
    const server = new McpServer({ name: 'slow', version: '1.0.0' });
    server.registerTool('wait', { description: 'Waits for a while', inputSchema: {} }, async (_args, { _meta }) => {
      const key = String(_meta?.['sluice/idempotency-key']);
      calls.set(key, (calls.get(key) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, takesMs));
      return { content: [{ type: 'text', text: '"waited"' }] };
    });
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
    calls,
    close: () =>
      new Promise((resolve) => {
        http.closeAllConnections();
        http.close(() => resolve());
      }),
  };
}
