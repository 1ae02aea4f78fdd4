import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

export interface EffectServer {
  readonly url: string;
  /** How often each effect was done, by its idempotency key: counted outside of what is tested. */
  readonly done: ReadonlyMap<string, number>;
  /** The trace context that came with each call. */
  readonly traceparents: readonly unknown[];
  close(): Promise<void>;
}

/**
 * An MCP server over Streamable HTTP with one tool, `act`, which takes some time and can't be repeated safely: it
 * counts each call.
 */
export async function effectServer(takesMs: number): Promise<EffectServer> {
  const done = new Map<string, number>();
  const traceparents: unknown[] = [];
  const http = createServer((request, response) => {
    const server = new McpServer({ name: 'effects', version: '1.0.0' });
    server.registerTool(
      'act',
      { description: 'Does something that cannot be undone', inputSchema: {} },
      async (_args, { _meta }) => {
        const key = String(_meta?.['sluice/idempotency-key']);
        done.set(key, (done.get(key) ?? 0) + 1);
        traceparents.push(_meta?.['traceparent']);
        await new Promise((resolve) => setTimeout(resolve, takesMs));
        return { content: [{ type: 'text', text: '"done"' }] };
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
    done,
    traceparents,
    close: () =>
      new Promise((resolve) => {
        http.closeAllConnections();
        http.close(() => resolve());
      }),
  };
}
