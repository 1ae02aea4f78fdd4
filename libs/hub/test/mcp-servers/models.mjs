// An MCP server as its authors write them: the TypeScript SDK with zod, optional and nested parameters, and arguments
// it validates itself.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const place = z.object({ street: z.string(), zip: z.string().nullable().default(null) });
const inputSchema = {
  query: z.string(),
  limit: z.number().int().min(1).nullable().default(null).describe('How many.'),
  sort: z
    .union([z.literal('asc'), z.literal('desc')])
    .nullable()
    .optional(),
  from: place.describe('Where it begins.'),
  to: place.nullable().optional(),
};
const server = new McpServer({ name: 'models', version: '1.0.0' });
server.registerTool('search', { description: 'Searches.', inputSchema }, async (args) => ({
  content: [{ type: 'text', text: JSON.stringify(args) }],
}));
const tree = z.object({ name: z.string(), get children() { return z.array(tree); } }); // prettier-ignore
server.registerTool('plant', { description: 'Plants.', inputSchema: { tree } }, async () => ({ content: [] }));
await server.connect(new StdioServerTransport());
