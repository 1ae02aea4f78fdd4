// A real MCP server over stdio that speaks while its tools work: progress and log messages. It has prompts and
// resources, too, with bytes in them, and completes arguments. Arguments of `work`:
// steps, how many; from, the first number of progress; each, milliseconds between them. `flood` says much at once.
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
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
  grow: async () => {
    prompts.growth = () => [];
    contents['talk://grown'] = { text: 'grown' };
    await server.sendPromptListChanged();
    await server.sendResourceListChanged();
    return 'grown';
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
const capabilities = {
  tools: {},
  logging: {},
  prompts: { listChanged: true },
  resources: { listChanged: true },
  completions: {},
};
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
const bytes = (size) => Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * 7) % 256)).toString('base64');
const picture = { type: 'image', data: bytes(40_000), mimeType: 'image/png' };
const contents = {
  'talk://blob': { mimeType: 'application/zip', blob: bytes(50_000), _meta: { 'example.com/kind': 'zip' } },
  'talk://text': { mimeType: 'text/plain', text: 'A line.\n'.repeat(8_000) },
};
const prompts = {
  greet: ({ city }) => [{ type: 'text', text: `Greet ${city}.` }],
  draw: () => [{ type: 'text', text: 'Describe it.' }, picture],
  late: () => [],
};
server.setRequestHandler(ListPromptsRequestSchema, async () => ({
  prompts: Object.keys(prompts).map((name) => ({ name, arguments: [{ name: 'city', required: name === 'greet' }] })),
}));
server.setRequestHandler(GetPromptRequestSchema, async ({ params }) => ({
  messages: prompts[params.name](params.arguments ?? {}).map((content) => ({ role: 'user', content })),
}));
server.setRequestHandler(ListResourcesRequestSchema, async () => ({
  resources: Object.keys(contents).map((uri) => ({ uri, name: uri.slice(7) })),
}));
server.setRequestHandler(ListResourceTemplatesRequestSchema, async () => ({
  resourceTemplates: [{ uriTemplate: 'talk://of/{city}', name: 'of' }],
}));
server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => ({
  contents: [{ uri, ...contents[uri] }],
}));
server.setRequestHandler(CompleteRequestSchema, async ({ params: { ref, argument, context } }) => {
  if (argument.value === 'slow') await sleep(20_000, undefined, { ref: false });
  const about = ref.type === 'ref/prompt' ? ref.name : ref.uri;
  const values = [`${about}:${argument.name}=${argument.value}`, JSON.stringify(context?.arguments ?? {})];
  return { completion: { values: [...values, ...Array(150).fill('x')].slice(0, 100), total: 152, hasMore: true } };
});
await server.connect(new StdioServerTransport());
