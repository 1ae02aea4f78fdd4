/**
 * An upstream MCP server over HTTP for bench/mcp.ts and bench/content.ts. At /mcp it has two tools that answer at once,
 * one to read by and one to act by, and one that answers a picture; at /many as many tools as its argument says, in a
 * list that is made once. Its address, without a path, is the first line that it writes; a message on its channel is
 * answered with the processor time that it has used.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer, Server } from '@modelcontextprotocol/server';

const picture = randomBytes(100_000).toString('base64');
const one = createMcpHandler(() => {
  const server = new McpServer({ name: 'upstream', version: '0.1.0' });
  server.registerTool('ping', { description: 'Answers at once.' }, () => ({
    content: [{ type: 'text', text: 'pong' }],
  }));
  server.registerTool('act', { description: 'Acts at once.' }, () => ({
    content: [{ type: 'text', text: 'done' }],
  }));
  server.registerTool('picture', { description: 'Answers 100 KB of a picture.' }, () => ({
    content: [{ type: 'image', data: picture, mimeType: 'image/png' }],
  }));
  return server;
});
const tools = Array.from({ length: Number(process.argv[2] ?? 0) }, (_, n) => ({
  name: `t${n}`,
  description: `Tells the time in place ${n}`,
  inputSchema: {
    type: 'object',
    properties: { timezone: { type: 'string', description: 'A time zone of the IANA database.' } },
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: true },
}));
const many = createMcpHandler(() => {
  const server = new Server({ name: 'upstream', version: '0.1.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools }));
  return server;
});
const [ofOne, ofMany] = [toNodeHandler(one), toNodeHandler(many)];
const http = createServer((request, response) => (request.url === '/many' ? ofMany : ofOne)(request, response));
http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}`));
process.on('message', () => process.send?.(process.cpuUsage()));
process.once('disconnect', () => process.exit());
