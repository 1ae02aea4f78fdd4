// A real MCP server over stdio that was given a credential in THEIR_TOKEN, and is careless with it.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const token = process.env.THEIR_TOKEN ?? '';
console.error(`Error: I was given ${token}`);
const tools = { length: () => `${token.length} ${token}`, pid: () => String(process.pid) };
const server = new Server({ name: 'credential', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object', properties: {} } })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
  content: [{ type: 'text', text: tools[params.name]() }],
}));
await server.connect(new StdioServerTransport());
