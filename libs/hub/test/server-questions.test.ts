import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMcpHandler, inputRequired, Server as NewServer } from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ElicitResultSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue, McpServer } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import type { McpCallOptions, McpHub } from '@sluice/hub';

const closing: (() => unknown)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

const script = join(import.meta.dirname, 'mcp-servers/asking.mjs');
const none = { id: 'asking', command: null, args: [], env: [], url: null, startMs: 10_000 };
const command = { command: process.execPath, args: [script] };

function open(server: Partial<McpServer>) {
  const [counted, logged]: [string[], string[]] = [[], []];
  const hub = createMcpHub([{ ...none, ...server }], {
    environment: () => ({ PATH: process.env['PATH'] ?? '' }),
    onChange: () => undefined,
    onQuestion: (id, kind, outcome) => counted.push(`${id} ${kind} ${outcome}`),
    log: (_, message) => logged.push(message),
  });
  closing.push(() => hub.close());
  return { hub, counted, logged };
}

/** Serves MCP on a free port of the loopback address. */
async function listening(listener: RequestListener): Promise<string> {
  const http = createServer(listener).listen(0, '127.0.0.1');
  await once(http, 'listening');
  closing.push(() => (http.closeAllConnections(), http.close()));
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

type Answers = NonNullable<McpCallOptions['answers']>;

function call(hub: McpHub, args: JsonObject, answers?: Answers, timeoutMs = 10_000, key = 'k'): Promise<JsonValue> {
  const own = answers === undefined ? {} : { answers };
  const { signal } = new AbortController();
  return hub.call('asking', 'ask', args, { signal, idempotencyKey: key, timeoutMs, pin: null, ...own });
}

const form = {
  method: 'elicitation/create',
  params: {
    message: 'Which one?',
    requestedSchema: {
      type: 'object',
      properties: { name: { type: 'string' }, size: { type: 'integer', default: 3 } },
      required: ['name'],
    },
  },
};
const roots = { method: 'roots/list' };
const sampling = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }], maxTokens: 100 },
};
const url = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'm', url: 'https://x.test', elicitationId: 'e' },
};

describe('what a server asks in the middle of a call', () => {
  it('gets no roots, declines and refusals with their reasons at once where none can answer', async () => {
    const { hub, counted, logged } = open(command);
    const asked = { requests: [roots, form, sampling, url, { method: 'no/such' }, { method: 'constructor' }] };
    expect(await call(hub, asked)).toEqual({
      capabilities: { roots: {}, elicitation: { form: {} } },
      answers: [
        { roots: [] },
        { action: 'decline', _meta: { 'sluice/reason': expect.stringContaining('No person can answer') } },
        { code: -32601, message: expect.stringContaining('Sampling is off') },
        { code: -32602, message: expect.stringContaining('URL-mode') },
        { code: -32601, message: 'Method not found' },
        { code: -32601, message: 'Method not found' },
      ],
    });
    expect(counted).toEqual(['asking roots answered', 'asking elicitation refused', 'asking sampling refused']);
    expect(logged).toEqual([expect.stringContaining('was refused: No person can answer')]);
  });

  it('goes to who answers for the call, whose time stands still meanwhile', async () => {
    const docs = { uri: 'file:///srv/docs', name: 'Docs' };
    const budget = { model: null, calls: 1, tokens: 10 };
    const { hub, counted } = open({ ...command, roots: [docs], sampling: budget });
    const answers: Answers = {
      elicit: async (asked) => {
        expect(asked).toEqual({ message: 'Which one?', requestedSchema: form.params.requestedSchema });
        await sleep(900);
        return { action: 'accept', content: { name: 'this' }, by: 'user:ann' };
      },
      sample: (asked) => {
        expect(asked).toEqual({ messages: [{ role: 'user', text: 'Hello' }], systemPrompt: null, maxTokens: 100 });
        const used = { inputTokens: 7, outputTokens: 2 };
        return Promise.resolve({ text: 'Hi', model: 'rules', stopReason: 'endTurn', ...used });
      },
      asked: (kind) => (end) => void ends.push({ kind, ...end }),
    };
    const ends: object[] = [];
    await hub.discover();
    expect(await call(hub, { requests: [roots, form, sampling] }, answers, 800)).toMatchObject({
      answers: [
        { roots: [docs] },
        { action: 'accept', content: { name: 'this', size: 3 } },
        { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'rules', stopReason: 'endTurn' },
      ],
    });
    expect(counted.map((one) => one.split(' ').at(-1))).toEqual(['answered', 'answered', 'answered']);
    expect(ends).toEqual([
      { kind: 'roots', outcome: 'answered' },
      { kind: 'elicitation', outcome: 'answered', by: 'user:ann' },
      { kind: 'sampling', outcome: 'answered', by: 'rules', inputTokens: 7, outputTokens: 2 },
    ]);
  });

  it('is bounded in number and size, and refused where it is not known which call asks', async () => {
    const { hub } = open(command);
    const answers: Answers = { elicit: () => Promise.resolve({ action: 'cancel' }) };
    const large = { ...form, params: { ...form.params, message: 'x'.repeat(70_000) } };
    const { answers: given } = (await call(
      hub,
      { requests: [large, ...Array<JsonObject>(20).fill(form)] },
      answers,
    )) as {
      answers: JsonObject[];
    };
    expect(given[0]).toMatchObject({ message: expect.stringContaining('larger than 65536 bytes') });
    expect(given.slice(1, 20)).toEqual(Array(19).fill({ action: 'cancel' }));
    expect(given[20]).toMatchObject({ message: expect.stringContaining('at most 20') });

    const held = Promise.withResolvers<undefined>();
    const slow: Answers = { elicit: () => held.promise.then(() => ({ action: 'accept', content: { name: 'a' } })) };
    const first = call(hub, { requests: [form] }, slow, 10_000, 'first');
    await sleep(100);
    const second = await call(hub, { requests: [form] }, answers, 10_000, 'second');
    expect(second).toMatchObject({
      answers: [{ action: 'decline', _meta: { 'sluice/reason': expect.stringContaining('2 calls are under way') } }],
    });
    held.resolve(undefined);
    expect(await first).toMatchObject({ answers: [{ action: 'accept' }] });
  });

  it('is known by its stream over HTTP, with many calls at a time', async () => {
    const server = new Server({ name: 'asking', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: 'ask', inputSchema: { type: 'object' } }],
    }));
    server.setRequestHandler(CallToolRequestSchema, async (_, { sendRequest }) => {
      await sleep(100);
      const { content } = await sendRequest(form as never, ElicitResultSchema);
      return { content: [{ type: 'text', text: String(content?.['name']) }] };
    });
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => 's' });
    await server.connect(transport as never);
    const { hub } = open({
      url: await listening((request, response) => void transport.handleRequest(request, response)),
    });
    const named = (name: string): Promise<JsonValue> =>
      call(hub, {}, { elicit: () => Promise.resolve({ action: 'accept', content: { name } }) }, 10_000, name);
    expect(await Promise.all(['a', 'b', 'c'].map(named))).toEqual(['a', 'b', 'c']);
  });

  it('is a result that wants input in the newest revision: the call is sent again with it', async () => {
    const seen: unknown[] = [];
    const handler = createMcpHandler(() => {
      const server = new NewServer({ name: 'asking', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler('tools/list', () => ({ tools: [{ name: 'ask', inputSchema: { type: 'object' } }] }));
      server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
        const { inputResponses } = mcpReq;
        seen.push([inputResponses ?? null, mcpReq.requestState()]);
        const [want, rounds] = [params.arguments?.['want'], Number(params.arguments?.['rounds'] ?? 1)];
        if (seen.length > rounds) return { content: [{ type: 'text', text: 'done' }] };
        const one = want === 'model' ? inputRequired.createMessage(sampling.params as never) : formOf;
        return inputRequired({ inputRequests: { one }, requestState: `state ${seen.length}` });
      });
      return server;
    });
    const formOf = inputRequired.elicit(form.params as never);
    const { hub, logged } = open({ url: await listening(toNodeHandler(handler) as RequestListener) });
    const answers: Answers = { elicit: () => Promise.resolve({ action: 'accept', content: { name: 'x' } }) };
    expect(await call(hub, {}, answers)).toBe('done');
    const accepted = { one: { action: 'accept', content: { name: 'x', size: 3 } } };
    expect(seen).toEqual([
      [null, undefined],
      [accepted, 'state 1'],
    ]);
    seen.length = 0;
    await expect(call(hub, { rounds: 99 }, answers)).rejects.toThrow('more than 10 times');
    seen.length = 0;
    await expect(call(hub, { want: 'model' }, answers)).rejects.toThrow();
    expect(logged).toEqual([expect.stringContaining('do not declare the required capability')]);
  });
});

describe('a tool that runs as a task of its server', () => {
  it('is looked at until it has ended, and cancelled with its call', async () => {
    const { hub } = open(command);
    const abandoned = new AbortController();
    const long = (looks: number, signal: AbortSignal, said: (message: string) => void): Promise<JsonValue> =>
      hub.call(
        'asking',
        'long',
        { looks },
        {
          ...{ signal, idempotencyKey: `${looks}`, timeoutMs: 10_000, pin: null },
          onNotice: (notice) => void (notice.kind === 'progress' && said(notice.message)),
          onAnswer: (answer) => said(JSON.stringify(answer)),
        },
      );
    const given = long(1_000, abandoned.signal, () => abandoned.abort(new Error('Enough.')));
    await expect(given).rejects.toThrow('Enough.');
    const said: string[] = [];
    expect(await long(3, new AbortController().signal, (message) => said.push(message))).toBe(
      't1 cancelled, t2 completed',
    );
    expect(said).toEqual(['It is working.']);
  });
});
