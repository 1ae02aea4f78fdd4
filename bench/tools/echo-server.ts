import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolRequestSchema, isInitializeRequest, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/**
 * An MCP server that gives back what it is given: over stdio, or with `--http` over Streamable HTTP, its address on
 * standard output.
 */
const inputSchema = {
  type: 'object' as const,
  properties: { text: { type: 'string' } },
  required: ['text'],
  additionalProperties: false,
};

function echo(): Server {
  const server = new Server({ name: 'echo', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: 'echo', description: 'Gives back its text.', inputSchema }],
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
    content: [{ type: 'text', text: String(params.arguments?.['text']) }],
  }));
  return server;
}

// The SDK's own classes miss their own interface under exactOptionalPropertyTypes.
if (!process.argv.includes('--http')) await echo().connect(new StdioServerTransport());
else {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const http = createServer((request, response) => {
    void (async () => {
      const known = sessions.get(String(request.headers['mcp-session-id']));
      if (known !== undefined) return known.handleRequest(request, response);
      let text = '';
      for await (const piece of request) text += String(piece);
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      if (!isInitializeRequest(body)) return void response.writeHead(404).end();
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
      await echo().connect(transport as Transport);
      await transport.handleRequest(request, response, body);
    })();
  });
  http.listen(0, '127.0.0.1', () => {
    const address = http.address();
    if (address !== null && typeof address === 'object') console.log(`http://127.0.0.1:${address.port}/mcp`);
  });
}
