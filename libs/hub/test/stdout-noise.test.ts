import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { ToolOutcomeLostError, ToolUnavailableError } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import type { McpHub } from '@sluice/hub';
import { until, whatIsThrown } from './waiting.js';

/**
 * A server without any library, which writes to its standard output and its standard error what it is given for a
 * moment.
 */
const source = `
import { createInterface } from 'node:readline';
const { before = '', listing = '', tools = {}, errors = '', end, silent = false, stuck = false } = JSON.parse(process.argv[2]);
const fill = (text) => text.replaceAll('$KEY', process.env.KEY);
process.stdout.write(fill(before));
process.stderr.write(fill(errors));
if (end !== undefined) typeof end === 'number' ? process.exit(end) : process.kill(process.pid, end);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || silent) continue;
  const say = (result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  if (method === 'server/discover') process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }) + '\\n');
  else if (method === 'initialize') say({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'n', version: '1' } });
  else if (method === 'tools/list') {
    process.stdout.write(listing);
    if (!stuck) say({ tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) });
  } else {
    const { noise = '', errors = '', answer = true, end } = tools[params.name];
    process.stdout.write(noise.replaceAll('$ID', id));
    process.stderr.write(fill(errors));
    if (end !== undefined) setTimeout(() => typeof end === 'number' ? process.exit(end) : process.kill(process.pid, end), 50);
    else if (answer) say({ content: [{ type: 'text', text: 'worked' }] });
  }
}
`;

const folder = mkdtempSync(join(tmpdir(), 'noise-'));
const script = join(folder, 'noisy.mjs');
writeFileSync(script, source);
const key = 'sk-planted-4711';
const hubs: McpHub[] = [];
afterEach(() => Promise.all(hubs.splice(0).map((hub) => hub.close())));
afterAll(() => rmSync(folder, { recursive: true }));

interface Script {
  readonly before?: string;
  readonly listing?: string;
  readonly errors?: string;
  readonly end?: number | string;
  readonly silent?: boolean;
  readonly stuck?: boolean;
  readonly tools?: Record<
    string,
    {
      readonly noise?: string;
      readonly errors?: string;
      readonly answer?: boolean;
      readonly end?: number | string;
    }
  >;
}

function open(given: Script, startMs = 5_000): { readonly hub: McpHub; readonly logged: string[] } {
  const logged: string[] = [];
  const args = [script, JSON.stringify(given)];
  const hub = createMcpHub([{ id: 'noisy', command: process.execPath, args, env: ['KEY'], url: null, startMs }], {
    environment: () => ({ PATH: process.env['PATH'] ?? '', KEY: key, HTTPS_PROXY: 'http://ann:wo%21rd7@proxy:1' }),
    onChange: () => undefined,
    log: (_, message) => logged.push(message),
  });
  hubs.push(hub);
  return { hub, logged };
}

function call(hub: McpHub, tool = 'work', timeoutMs = 5_000): Promise<JsonValue> {
  const options = { signal: new AbortController().signal, timeoutMs, idempotencyKey: 'k', pin: null };
  return hub.call('noisy', tool, {}, options);
}

const passedOver = (line: string): string =>
  `wrote to its standard output, which was ignored, a line that is no JSON-RPC message: ${line}`;

describe('a line on a server’s standard output that is no JSON-RPC message', () => {
  it.each([
    ['text', 'Made-up Server version : 2.1', passedOver('Made-up Server version : 2.1')],
    ['a JSON log line', '{"level":"info"}', passedOver('{"level":"info"}')],
    ['a number', '42', passedOver('42')],
    ['a list', '[1,2]', passedOver('[1,2]')],
    ['null', 'null', passedOver('null')],
    ['an empty line', '', 'wrote to its standard output, which was ignored, an empty line'],
    ['an empty line of Windows', '\r', 'wrote to its standard output, which was ignored, an empty line'],
    ['a secret', `token ${key}\u001b[31m`, passedOver('token [hidden]\uFFFD[31m')],
    ['a long one', 'x'.repeat(5_000), passedOver('x'.repeat(300))],
  ])('is logged and ignored: %s', async (_, line, said) => {
    const { hub, logged } = open({ before: `${line}\n`, tools: { work: {} } });
    expect(await hub.discover()).toMatchObject([{ tools: [{ name: 'work' }] }]);
    expect(await call(hub)).toBe('worked');
    expect(logged).toEqual([said]);
    expect(hub.status()).toMatchObject([{ state: 'ready', error: null }]);
  });

  it('is ignored at any time, and five are logged', async () => {
    const { hub, logged } = open({ listing: 'listing tools now...\n', tools: { work: { noise: 'a\nb\nc\nd\ne\n' } } });
    await hub.discover();
    expect(await call(hub)).toBe('worked');
    expect(await call(hub)).toBe('worked');
    const lines = ['listing tools now...', 'a', 'b', 'c', 'd (further lines are not logged)'];
    expect(logged).toEqual(lines.map(passedOver));
  });

  it('ends the server where it is a flood, and the reason says so', async () => {
    const { hub, logged } = open({ tools: { work: {}, flood: { noise: 'x\n'.repeat(3_000), answer: false } } });
    await hub.discover();
    expect(await whatIsThrown(call(hub, 'flood'))).toBeInstanceOf(ToolOutcomeLostError);
    await until(() => logged.some((line) => line.includes('was ended')));
    expect(logged.at(-1)).toMatch(
      /^The MCP server noisy was ended: it sent more than a thousand unsolicited messages a second\./,
    );
  });

  it('that was meant as the answer to a call ends the call, and not the server', async () => {
    const noise = '{"jsonrpc":"2.0","id":$ID,"result":"worked"}\n';
    const { hub } = open({ tools: { work: {}, half: { noise, answer: false } } });
    await hub.discover();
    const before = performance.now();
    const error = await whatIsThrown(call(hub, 'half', 20_000));
    expect(error).toBeInstanceOf(ToolOutcomeLostError);
    expect((error as Error).message).toBe('What half answered is no message.');
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(await call(hub)).toBe('worked');
  });
});

describe('why a server is not there', () => {
  const errors = `Loading\nError: the key $KEY is not valid\n`;
  const wrote = ' It wrote: Error: the key [hidden] is not valid';
  const check = 'Check mcp.servers.noisy.command and its args.';

  it.each([
    ['it ended', { errors, end: 3 }, `ended with code 3 before it answered. ${check}${wrote}`],
    [
      'a signal ended it',
      { errors, end: 'SIGSEGV' },
      `was ended by the signal SIGSEGV before it answered. ${check}${wrote}`,
    ],
    [
      'it floods',
      { errors, before: 'x\n'.repeat(3_000) },
      `was ended: it sent more than a thousand unsolicited messages a second before it answered. ${check}${wrote}`,
    ],
  ])('is said truly at its start, with what it wrote: %s', async (_, given, said) => {
    const { hub } = open(given);
    expect(await hub.discover()).toEqual([{ server: 'noisy', error: `The MCP server noisy ${said}` }]);
  });

  it.each([
    ['its start', { silent: true }],
    ['its list of tools', { stuck: true }],
  ])('quotes what it wrote also where nothing came in time: %s', async (_, given) => {
    const late = 'did not answer within 1 s. Raise mcp.servers.noisy.timeout_seconds, or see why it is slow.';
    const written = open({ ...given, errors }, 1_000);
    expect(await written.hub.discover()).toEqual([{ server: 'noisy', error: `The MCP server noisy ${late}${wrote}` }]);
    const question = 'Need to install the following packages: made-up. Ok to proceed? (y)\n';
    const asking = open({ ...given, before: question }, 1_000);
    expect(await asking.hub.discover()).toEqual([
      { server: 'noisy', error: `The MCP server noisy ${late} It wrote to its standard output: ${question.trim()}` },
    ]);
  });

  it.each([
    ['it ended', 7, 'ended with code 7'],
    ['a signal ended it', 'SIGKILL', 'was ended by the signal SIGKILL'],
  ])('is said truly when it is lost: %s', async (_, end, said) => {
    const { hub, logged } = open({ tools: { dies: { errors, end } } });
    await hub.discover();
    await whatIsThrown(call(hub, 'dies'));
    expect(logged[0]).toBe(`The MCP server noisy ${said}.${wrote}`);
  });

  it('never holds a part of a secret, wherever a text is cut', async () => {
    for (let pad = 280; pad <= 300; pad++) {
      const { hub } = open({ errors: `${'x'.repeat(pad)}$KEY\n`, end: 1 });
      const [offer] = await hub.discover();
      expect(JSON.stringify(offer)).not.toContain('sk-');
      await hub.close();
    }
  });

  it('holds neither user nor password of a proxy', async () => {
    const { hub } = open({ errors: 'Error: http://ann:wo%21rd7@proxy:1 refused wo!rd7\n', end: 1 });
    const [offer] = await hub.discover();
    expect(offer).toMatchObject({ error: expect.stringContaining('http://[hidden]@proxy:1 refused [hidden]') });
  });

  it('is said to the operator, and to a model only that it is away', async () => {
    const { hub } = open({ errors, end: 1 });
    const error = await whatIsThrown(call(hub));
    expect(error).toBeInstanceOf(ToolUnavailableError);
    expect((error as Error).message).toBe('The MCP server noisy is not available now.');
  });
});
