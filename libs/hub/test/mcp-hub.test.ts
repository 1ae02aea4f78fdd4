import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { ToolOutcomeLostError, ToolUnavailableError, ToolUserError } from '@sluice/core';
import type { JsonValue, McpServer } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import type { McpHub } from '@sluice/hub';
import { unusedPort } from './unused-port.js';
import { until, whatIsThrown } from './waiting.js';

const script = join(import.meta.dirname, 'mcp-servers/scripted.mjs');
const folder = mkdtempSync(join(tmpdir(), 'mcp-hub-'));
const hubs: McpHub[] = [];
afterEach(() => Promise.all(hubs.splice(0).map((hub) => hub.close())));
afterAll(() => rmSync(folder, { recursive: true }));

function server(id: string, args: string[] = [], changes: Partial<McpServer> = {}): McpServer {
  return { id, command: process.execPath, args: [script, ...args], env: [], url: null, startMs: 10_000, ...changes };
}

function open(...servers: McpServer[]): { hub: McpHub; changed: string[]; asked: string[]; logged: string[] } {
  const [changed, asked, logged]: [string[], string[], string[]] = [[], [], []];
  const proxy = { HTTPS_PROXY: 'http://proxy:8080', no_proxy: 'localhost', NODE_EXTRA_CA_CERTS: '' };
  const known: Record<string, string> = {
    ...{ PATH: process.env['PATH'] ?? '', HOME: folder, GIVEN: 'yes', SECRET: 'no' },
    ...proxy,
  };
  const hub = createMcpHub(servers, {
    environment: (names) => {
      asked.push(...names);
      return Object.fromEntries(names.flatMap((name) => (known[name] === undefined ? [] : [[name, known[name]]])));
    },
    onChange: (id) => changed.push(id),
    log: (id, message) => logged.push(`${id}: ${message}`),
  });
  hubs.push(hub);
  return { hub, changed, asked, logged };
}

function ask(
  hub: McpHub,
  tool: string,
  options: { timeoutMs?: number; signal?: AbortSignal; args?: Record<string, JsonValue>; server?: string } = {},
) {
  const { timeoutMs = 10_000, signal = new AbortController().signal, args = {}, server: id = 'a' } = options;
  return hub.call(id, tool, args, { signal, timeoutMs, idempotencyKey: 'key-1', pin: null });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

describe('an unused hub', () => {
  it('has idle servers; closed, it starts none any more', async () => {
    const { hub } = open(server('a'));
    expect(hub.status()).toEqual([{ server: 'a', state: 'idle', error: null }]);
    await hub.close();
    expect(hub.status()).toEqual([{ server: 'a', state: 'closed', error: null }]);
    await expect(ask(hub, 'words')).rejects.toThrow(ToolUnavailableError);
    expect(hub.status()).toMatchObject([{ server: 'a', state: 'closed' }]);
  });
});

describe('results (M-22, M-103)', () => {
  it('come as what they are', async () => {
    const { hub } = open(server('a'));
    expect(await ask(hub, 'words')).toBe('plain words');
    expect(await ask(hub, 'json')).toEqual({ a: [1, 2] });
    expect(await ask(hub, 'structured')).toEqual({ kept: true });
    expect(await ask(hub, 'picture')).toEqual([
      { type: 'text', text: 'see' },
      { type: 'image', mimeType: 'image/png', bytes: 3 },
    ]);
  });

  it('carry arguments and the idempotency key across', async () => {
    const { hub } = open(server('a'));
    expect(await ask(hub, 'arguments', { args: { n: [1, { x: null }] } })).toEqual({ n: [1, { x: null }] });
    expect(await ask(hub, 'meta')).toMatchObject({ 'sluice/idempotency-key': 'key-1' });
  });

  it('that are errors reach the model with at most 2 KB of the server’s text (M-30, M-32, XB-12)', async () => {
    const { hub } = open(server('a'));
    const error = (await whatIsThrown(ask(hub, 'fail'))) as Error;
    expect(error).toBeInstanceOf(ToolUserError);
    expect(error.message).toMatch(/^It went wrong: é+…$/);
    expect(Buffer.byteLength(error.message)).toBeLessThanOrEqual(2_048);
    expect(Buffer.byteLength(error.message)).toBeGreaterThan(2_000);
  });

  it('that are errors of the protocol: the server’s own text is for the model, and a breakdown’s for the log too', async () => {
    const { hub, logged } = open(server('a'));
    await expect(ask(hub, 'refuse')).rejects.toMatchObject({
      name: 'ToolUserError',
      message: 'The server refused the call: the colour is unknown',
    });
    await expect(ask(hub, 'break')).rejects.toMatchObject({
      name: 'ToolFailedError',
      message: 'The server answered with an error: the disk is full.',
    });
    expect(logged).toContain('a: answered a call of break with the error -32603: the disk is full');
  });
});

describe('what connects for a call', () => {
  const options = (signal = new AbortController().signal) => ({ signal, timeoutMs: 10_000, pin: null });

  it('starts the server, and sends nothing of a call; the call finds it there', async () => {
    const { hub } = open(server('a'));
    await hub.connect('a', 'words', options());
    expect(hub.status()).toMatchObject([{ server: 'a', state: 'ready' }]);
    expect(await ask(hub, 'words')).toBe('plain words');
  });

  it('fails as the call would where the server is not there in its time, is unknown, or was stopped', async () => {
    const { hub } = open(server('a', ['--silent'], { startMs: 200 }));
    await expect(hub.connect('a', 'words', options())).rejects.toThrow(ToolUnavailableError);
    await expect(hub.connect('b', 'words', options())).rejects.toThrow('No MCP server b is configured.');
    const stopped = AbortSignal.abort(new Error('It is stopped.'));
    await expect(hub.connect('a', 'words', options(stopped))).rejects.toThrow('It is stopped.');
  });
});

describe('a server’s process', () => {
  it('gets the named variables, PATH and HOME, what leads out through a proxy, and no others', async () => {
    const { hub, asked } = open(server('a', [], { env: ['GIVEN', 'MISSING'] }));
    expect(await ask(hub, 'environment')).toEqual([
      'GIVEN',
      'HOME',
      'HTTPS_PROXY',
      'NODE_EXTRA_CA_CERTS',
      'PATH',
      'no_proxy',
    ]);
    const proxies = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy'];
    expect(asked).toEqual(['GIVEN', 'MISSING', 'PATH', 'HOME', 'NODE_EXTRA_CA_CERTS', ...proxies]);
  });

  it('is one for all calls, and not started before the first', async () => {
    const { hub } = open(server('a'));
    expect(hub.status()).toEqual([{ server: 'a', state: 'idle', error: null }]);
    const [first, second] = await Promise.all([ask(hub, 'pid'), ask(hub, 'pid')]);
    expect(second).toBe(first);
    expect(hub.status()).toEqual([{ server: 'a', state: 'ready', error: null }]);
  });

  it('ends with the hub, and so does what it started, even if it will not (M-83)', async () => {
    const { hub } = open(server('a', ['--stubborn']));
    const pids = [Number(await ask(hub, 'pid')), Number(await ask(hub, 'child'))];
    expect(pids.map(isAlive)).toEqual([true, true]);
    await hub.close();
    await until(() => !pids.some(isAlive));
    expect(hub.status()[0]?.state).toBe('closed');
    await expect(ask(hub, 'pid')).rejects.toThrow(ToolUnavailableError);
  });

  it('ends at once if it will', async () => {
    const { hub } = open(server('a'));
    const pid = Number(await ask(hub, 'pid'));
    const before = performance.now();
    await hub.close();
    expect(performance.now() - before).toBeLessThan(1_400);
    await until(() => !isAlive(pid));
  });
});

describe('calls that do not end well', () => {
  it('are cancelled at the server when the caller aborts, with the caller’s reason', async () => {
    const { hub } = open(server('a'));
    const caller = new AbortController();
    await ask(hub, 'words');
    const running = whatIsThrown(ask(hub, 'slow', { signal: caller.signal }));
    setTimeout(() => caller.abort(new Error('enough')), 50);
    expect(await running).toEqual(new Error('enough'));
    await until(async () => JSON.stringify(await ask(hub, 'cancelled')) === '["enough"]');
  });

  it('send no cancellation for a call that has its answer', async () => {
    const { hub, logged } = open(server('a'));
    const caller = new AbortController();
    await ask(hub, 'words', { signal: caller.signal });
    caller.abort(new Error('The call has ended.'));
    expect(await ask(hub, 'cancelled')).toEqual([]);
    expect(logged).toEqual([]);
  });

  it('end at their time limit, as an outcome that is not known (M-80)', async () => {
    const { hub } = open(server('a'));
    await ask(hub, 'words');
    const error = await whatIsThrown(ask(hub, 'slow', { timeoutMs: 100 }));
    expect(error).not.toBeInstanceOf(ToolUnavailableError);
    expect(error).toBeInstanceOf(ToolOutcomeLostError);
    expect(error).toMatchObject({ message: expect.stringMatching(/0\.1 s/) });
  });

  it('that lose their server have no known outcome; the next call finds it back', async () => {
    const { hub, changed, logged } = open(server('a'));
    const first = await ask(hub, 'pid');
    const error = await whatIsThrown(ask(hub, 'die'));
    expect(error).not.toBeInstanceOf(ToolUnavailableError);
    expect(error).toBeInstanceOf(ToolOutcomeLostError);
    expect(error).toMatchObject({ message: expect.stringMatching(/connection was lost while die ran/) });
    const second = await ask(hub, 'pid');
    expect(second).not.toBe(first);
    expect(changed).toEqual(['a']);
    expect(logged).toEqual([
      'a: The MCP server a ended with code 1. It wrote: scripted server: a line on stderr',
      'a: is there again',
    ]);
  });

  it('to a server that is not configured are unavailable', async () => {
    const { hub } = open();
    await expect(ask(hub, 'words')).rejects.toThrow(ToolUnavailableError);
  });
});

describe('discover (M-20, M-101)', () => {
  it('reads all pages, and keeps a tool with nothing but its name', async () => {
    const { hub } = open(server('a', ['--tools', '25', '--page', '7']));
    const [offer] = await hub.discover();
    if (offer === undefined || !('tools' in offer)) throw new Error('no offer');
    const numbered = offer.tools.filter(({ name }) => name.startsWith('tool-'));
    expect(numbered).toHaveLength(25);
    expect(numbered[24]).toEqual({
      name: 'tool-0024',
      description: '',
      inputSchema: { type: 'object', properties: {} },
      outputSchema: null,
    });
  });

  it('looks at no more than 1,000 tools, or as many as max_tools of the server says', async () => {
    const many = ['--tools', '1101', '--page', '200'];
    const { hub } = open(
      server('a', many),
      server('b', many, { mostTools: 5_000 }),
      server('c', many, { mostTools: 7 }),
    );
    const offers = await hub.discover();
    const said = /more than 1000 tools, which max_tools of the server raises/;
    expect(offers[0]).toMatchObject({ server: 'a', endless: expect.stringMatching(said) });
    expect(offers[1]).not.toHaveProperty('endless');
    expect(offers[2]).toMatchObject({ server: 'c', endless: expect.stringMatching(/more than 7 tools/) });
    // The server has 17 tools beside the numbered ones.
    expect(offers.map((offer) => ('tools' in offer ? offer.tools.length : 0))).toEqual([1_000, 1_118, 7]);
  });

  it('says of each server that will not start why, and is not held up by it (M-104)', async () => {
    const missing = join(folder, 'missing');
    const { hub } = open(
      server('gone', [], { command: 'no-such-command-here' }),
      server('ends', ['--needs', missing]),
      server('silent', ['--silent'], { startMs: 700 }),
      server('nowhere', [], { command: null, url: `http://127.0.0.1:${await unusedPort()}/mcp` }),
      server('well'),
    );
    const before = performance.now();
    const [gone, ends, silent, nowhere, well] = await hub.discover();
    expect(performance.now() - before).toBeLessThan(8_000);
    expect(gone).toEqual({
      server: 'gone',
      error: expect.stringMatching(/no command "no-such-command-here".*mcp\.servers\.gone\.command/),
    });
    expect(ends).toEqual({
      server: 'ends',
      error: expect.stringMatching(/ended with code 3 before it answered.*Error: the file missing is missing/),
    });
    expect(silent).toEqual({
      server: 'silent',
      error: expect.stringMatching(/did not answer within 0\.7 s.*timeout_seconds/),
    });
    expect(nowhere).toEqual({
      server: 'nowhere',
      error: expect.stringMatching(/cannot be reached at http:\/\/127\.0\.0\.1:\d+\/mcp.*ECONNREFUSED/),
    });
    expect(well).toHaveProperty('tools');
    expect(hub.status().map(({ state }) => state === 'ready')).toEqual([false, false, false, false, true]);
  });

  it('is followed by word when the server is there after all', async () => {
    const needed = join(folder, 'needed');
    const { hub, changed, logged } = open(server('a', ['--needs', needed]));
    expect(await hub.discover()).toEqual([{ server: 'a', error: expect.any(String) }]);
    const error = (await whatIsThrown(ask(hub, 'words', { timeoutMs: 50 }))) as Error;
    expect(error).toBeInstanceOf(ToolUnavailableError);
    expect(error.message).toBe('The MCP server a is not available now.');
    expect(changed).toEqual([]);
    writeFileSync(needed, '');
    await until(() => changed.length > 0);
    expect(changed).toEqual(['a']);
    expect((await hub.discover())[0]).toHaveProperty('tools');
    expect(logged).toEqual([expect.stringMatching(/^a: .*code 3/), 'a: is there again']);
  });

  it('is held to the size of a message that is set for it', async () => {
    const { hub } = open(server('a', ['--tools', '200'], { messageBytes: 8_192 }), server('b', ['--tools', '200']));
    const [small, whole] = await hub.discover();
    expect(small).toMatchObject({
      error: expect.stringContaining('a line of more than 8192 bytes, which message_megabytes of the server raises'),
    });
    expect(whole).toMatchObject({ tools: expect.any(Array) });
  });

  it('is looked at again as soon as a call finds a tool changed', async () => {
    const { hub, changed } = open(server('a'));
    const call = { signal: new AbortController().signal, timeoutMs: 10_000, idempotencyKey: 'k', pin: 'another one' };
    await expect(hub.call('a', 'words', {}, call)).rejects.toMatchObject({ name: 'ToolUnavailableError' });
    expect(changed).toEqual(['a']);
  });

  it('is asked for again when a server says that its tools have changed (K-58)', async () => {
    const { hub, changed } = open(server('a'));
    const names = async () =>
      (await hub.discover()).flatMap((offer) => ('tools' in offer ? offer.tools.map(({ name }) => name) : []));
    expect(await names()).not.toContain('grown');
    await ask(hub, 'grow');
    await until(() => changed.length > 0);
    expect(changed).toEqual(['a']);
    expect(await names()).toContain('grown');
  });
});
