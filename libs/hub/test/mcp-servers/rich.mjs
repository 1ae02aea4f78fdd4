// A real MCP server over stdio whose tools answer with all that a result may hold.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const bytes = (size, first) =>
  Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * 7 + first) % 256)).toString('base64');
const object = { type: 'object', properties: {} };

const answers = {
  mixed: {
    content: [
      { type: 'text', text: 'before', annotations: { audience: ['user'], priority: 0.5 } },
      { type: 'image', data: bytes(200_000, 1), mimeType: 'image/png', annotations: { audience: ['assistant'] } },
      { type: 'audio', data: bytes(5_000, 2), mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'a text' } },
      { type: 'resource', resource: { uri: 'file:///a.bin', mimeType: 'application/zip', blob: bytes(3_000, 3) } },
      {
        type: 'resource_link',
        uri: 'file:///b.txt',
        name: 'b',
        title: 'B',
        description: 'The second file',
        mimeType: 'text/plain',
        size: 12,
      },
      { type: 'image', data: 'AAAA', mimeType: 'image/gif' },
      { type: 'text', text: 'after' },
    ],
    _meta: { 'example.com/took': 12 },
  },
  pictures: {
    content: Array.from({ length: 8 }, (_, at) => ({ type: 'image', data: bytes(2_000, at), mimeType: 'image/png' })),
  },
  pretty: { content: [{ type: 'text', text: '{\n  "a": [1, 2]\n}\n' }] },
  structured: { content: [{ type: 'text', text: 'Two of them.' }], structuredContent: { count: 2 } },
  plain: { content: [{ type: 'text', text: 'plain words' }] },
  counted: { content: [{ type: 'text', text: 'Two of them.' }], structuredContent: { count: 2 } },
  long: {
    content: [{ type: 'text', text: `${'A long line of a log.\n'.repeat(5_000)}` }],
  },
  rows: {
    content: [{ type: 'text', text: 'Many.' }],
    structuredContent: { rows: Array.from({ length: 5_000 }, (_, id) => ({ id })), hidden: 1 },
  },
  drawn: {
    content: [
      { type: 'text', text: '{ "title": "Sea", "price": 12 }' },
      { type: 'image', data: bytes(2_000, 4), mimeType: 'image/png' },
      { type: 'audio', data: bytes(2_000, 5), mimeType: 'audio/wav' },
    ],
  },
};

const server = new Server({ name: 'rich', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, async () => ({
  tools: Object.keys(answers).map((name) => ({ name, inputSchema: object })),
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => answers[params.name]);
await server.connect(new StdioServerTransport());
