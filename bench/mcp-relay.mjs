/**
 * The least that a relay of MCP can be, for bench/mcp.ts: a server of the SDK whose calls go to the upstream server
 * that the argument names, by one client of the SDK. Its address is the first line that it writes; a message on its
 * channel is answered with the processor time that it has used.
 */
import { createServer } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

const client = new Client({ name: 'relay', version: '0.1.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
const relay = createMcpHandler(() => {
  const server = new Server({ name: 'relay', version: '0.1.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => client.listTools());
  server.setRequestHandler('tools/call', ({ params: { name, arguments: given } }) =>
    client.callTool({ name, arguments: given ?? {} }),
  );
  return server;
});
const http = createServer(toNodeHandler(relay));
http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
process.on('message', () => process.send?.(process.cpuUsage()));
process.once('disconnect', () => process.exit());
