// A real MCP server over stdio whose tools do what servers do when things go wrong. Options:
// --needs FILE: end at once, with a reason on stderr, unless FILE is there. --silent: start and never answer.
// --tools N --page M: offer N tools, M a page. --stubborn: ignore the end of stdin and SIGTERM.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';

const { values: options } = parseArgs({
  options: {
    needs: { type: 'string' },
    silent: { type: 'boolean' },
    stubborn: { type: 'boolean' },
    tools: { type: 'string' },
    page: { type: 'string' },
  },
});

console.error('scripted server: a line on stderr');
if (options.needs !== undefined && !existsSync(options.needs)) {
  console.error(`Error: the file ${options.needs.split('/').at(-1)} is missing`);
  process.exit(3);
}
if (options.stubborn) {
  process.on('SIGTERM', () => undefined);
  setInterval(() => undefined, 1_000);
}

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const cancelled = [];
const tools = {
  environment: async () => text(JSON.stringify(Object.keys(process.env).sort())),
  pid: async () => text(String(process.pid)),
  die: async () => process.exit(1),
  slow: async (_params, { signal }) => {
    await sleep(30_000, undefined, { signal, ref: false });
    return text('late');
  },
  soon: async () => {
    await sleep(1_500);
    await server.sendToolListChanged();
    return text('done');
  },
  cancelled: async () => text(JSON.stringify(cancelled)),
  fail: async () => ({ ...text(`It went wrong: ${'é'.repeat(3_000)}`), isError: true }),
  words: async () => text('plain words'),
  json: async () => text('{"a":[1,2]}'),
  structured: async () => ({ ...text('ignored'), structuredContent: { kept: true } }),
  picture: async () => ({
    content: [
      { type: 'text', text: 'see' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ],
  }),
  meta: async ({ _meta }) => text(JSON.stringify(_meta)),
  arguments: async (params) => text(JSON.stringify(params.arguments)),
  refuse: async () => {
    throw new McpError(ErrorCode.InvalidParams, 'the colour is unknown');
  },
  break: async () => {
    throw new Error('the disk is full');
  },
  child: async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
    return text(String(child.pid));
  },
  grow: async () => {
    tools.grown = async () => text('grown');
    await server.sendToolListChanged();
    return text('done');
  },
};
for (let at = 0; at < Number(options.tools ?? 0); at++)
  tools[`tool-${String(at).padStart(4, '0')}`] = async () => text(String(at));

const server = new Server({ name: 'scripted', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
server.setRequestHandler(ListToolsRequestSchema, async ({ params }) => {
  const names = Object.keys(tools);
  const start = Number(params?.cursor ?? 0);
  const end = start + Number(options.page ?? 1_000_000);
  const page = names.slice(start, end).map((name) => ({ name, inputSchema: { type: 'object', properties: {} } }));
  return { tools: page, ...(end < names.length ? { nextCursor: String(end) } : {}) };
});
server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => tools[params.name](params, extra));

if (options.silent) setInterval(() => undefined, 1_000);
else {
  const transport = new StdioServerTransport();
  await server.connect(transport);
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    if (message.method === 'notifications/cancelled') cancelled.push(message.params.reason.replace('Error: ', ''));
    onmessage(message, extra);
  };
}
