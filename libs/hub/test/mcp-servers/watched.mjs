// A real MCP server over stdio whose resources change: `touch` says so of an address, as often as its argument `times`
// says; `subscriptions` lists what is subscribed to; `die` ends the process. `watch://refused` cannot be subscribed to.
// With --modern it speaks the revision 2026-07-28, else those before.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Server as NewServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const info = { name: 'watched', version: '1.0.0' };
const capabilities = { tools: {}, resources: { subscribe: true } };
const isModern = process.argv.includes('--modern');
const prefix = isModern ? 'recent' : 'watch';
const inputSchema = { type: 'object', properties: { uri: { type: 'string' }, times: { type: 'integer' } } };
const subscribed = new Set();
const touched = new Map();

const listTools = () => ({ tools: ['touch', 'move', 'subscriptions', 'die'].map((name) => ({ name, inputSchema })) });
const listResources = () => ({
  resources: ['a', 'b', 'refused'].map((name) => ({ uri: `${prefix}://${name}`, name })),
});
const read = ({ params: { uri } }) => ({ contents: [{ uri, text: `touched ${touched.get(uri) ?? 0} times` }] });
const call =
  (server) =>
  async ({ params: { name, arguments: args = {} } }) => {
    if (name === 'die') process.exit(1);
    if (name === 'touch') {
      const { uri, times = 1 } = args;
      for (let at = 0; at < times; at++) {
        touched.set(uri, (touched.get(uri) ?? 0) + 1);
        const isWanted = [...subscribed].some((one) => uri.startsWith(one));
        if (isModern || isWanted) await server.sendResourceUpdated({ uri });
      }
    }
    return { content: [{ type: 'text', text: JSON.stringify([...subscribed]) }] };
  };

if (isModern)
  serveStdio(
    () => {
      const server = new NewServer(info, { capabilities });
      server.setRequestHandler('tools/list', listTools);
      server.setRequestHandler('tools/call', call(server));
      server.setRequestHandler('resources/list', listResources);
      server.setRequestHandler('resources/read', read);
      return server;
    },
    { legacy: 'reject' },
  );
else {
  const server = new Server(info, { capabilities });
  server.setRequestHandler(ListToolsRequestSchema, listTools);
  server.setRequestHandler(CallToolRequestSchema, call(server));
  server.setRequestHandler(ListResourcesRequestSchema, listResources);
  server.setRequestHandler(ReadResourceRequestSchema, read);
  server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
    if (uri.endsWith('refused')) throw new McpError(ErrorCode.InvalidParams, 'this one never changes');
    subscribed.add(uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
    subscribed.delete(uri);
    return {};
  });
  await server.connect(new StdioServerTransport());
}
