// A real MCP server over stdio that speaks while its tools work: progress and log messages. Arguments of `work`:
// steps, how many; from, the first number of progress; each, milliseconds between them. `flood` says much at once.
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  SetLevelRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const inputSchema = {
  type: 'object',
  properties: { steps: { type: 'integer' }, from: { type: 'number' }, each: { type: 'integer' } },
};
const log = (level, data, logger) =>
  server.notification({ method: 'notifications/message', params: { level, data, ...(logger && { logger }) } });

const tools = {
  work: async ({ steps = 3, from = 1, each = 0 }, say) => {
    await log('debug', `secret is ${process.env['TALKING_SECRET'] ?? 'unknown'}`, 'worker');
    await log('error', { disk: 'full', at: [1, 2] });
    for (let step = 0; step < steps; step++) {
      if (each > 0) await sleep(each);
      await say({ progress: from + step, total: from + steps - 1, message: `Step ${step + 1}` });
    }
    // What goes back, and what is no progress.
    await say({ progress: from, message: 'back' });
    return `${steps} steps, logs from ${level}`;
  },
  flood: async (_, say) => {
    for (let at = 1; at <= 300; at++) {
      await say({ progress: at, message: 'x'.repeat(5_000) });
      await log('info', 'y'.repeat(20_000));
    }
    return 'said all';
  },
};

tools.closed = tools.work;
let level = 'none';
const capabilities = { tools: {}, logging: {} };
const server = new Server({ name: 'talking', version: '1.0.0' }, { capabilities });
server.setRequestHandler(ListToolsRequestSchema, async () => ({
  tools: Object.keys(tools).map((name) => ({ name, inputSchema })),
}));
server.setRequestHandler(SetLevelRequestSchema, async ({ params }) => {
  level = params.level;
  return {};
});
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  const progressToken = params._meta?.progressToken;
  const say = async (said) =>
    progressToken !== undefined &&
    server.notification({ method: 'notifications/progress', params: { progressToken, ...said } });
  return { content: [{ type: 'text', text: await tools[params.name](params.arguments ?? {}, say) }] };
});
await server.connect(new StdioServerTransport());
