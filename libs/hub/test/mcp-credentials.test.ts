import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ToolConnectionUnreachableError, ToolUnavailableError } from '@sluice/core';
import type { ConnectionSettings, McpServer } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import type { McpCredential, McpHub, McpHubParts } from '@sluice/hub';
import { startBearerServer } from './bearer-server.js';
import type { BearerServer } from './bearer-server.js';
import { until, whatIsThrown } from './waiting.js';

const connection: ConnectionSettings = { id: 'k', tenants: ['*'], adapter: 'environment', variable: 'K' };
const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one.close();
});

async function start(...accepted: string[]): Promise<BearerServer> {
  const server = await startBearerServer(...accepted);
  closing.push(server);
  return server;
}

function open(server: Partial<McpServer>, changes: Partial<McpHubParts> = {}): { hub: McpHub; logged: string[] } {
  const logged: string[] = [];
  const base = { id: 'a', command: null, args: [], env: [], url: null, startMs: 10_000, connection };
  const hub = createMcpHub([{ ...base, ...server }], {
    environment: () => ({ PATH: process.env['PATH'] ?? '' }),
    onChange: () => undefined,
    log: (_, message) => logged.push(message),
    ...changes,
  });
  closing.push(hub);
  return { hub, logged };
}

const none: McpCredential['renew'] = () => Promise.resolve(null);
function call(hub: McpHub, token: string, tool = 'echo', renew = none, signal = new AbortController().signal) {
  return hub.call(
    'a',
    tool,
    {},
    { signal, timeoutMs: 15_000, idempotencyKey: 'k', pin: null, credential: { token, renew } },
  );
}

describe('the clients of a server that wants a credential', () => {
  it('are one for each credential, however many calls it makes (T-26a4, XB-42)', async () => {
    const server = await start('token-of-ann', 'token-of-bob');
    const { hub } = open({ url: server.url });
    await Promise.all(['token-of-ann', 'token-of-bob', 'token-of-ann'].map((token) => call(hub, token)));
    await call(hub, 'token-of-bob');
    expect(server.begun.toSorted()).toEqual(['token-of-ann', 'token-of-bob']);
    expect(server.ran.toSorted()).toEqual(['token-of-ann', 'token-of-ann', 'token-of-bob', 'token-of-bob']);
  });

  it('show it in the header, and what the server says of it comes back without it', async () => {
    const server = await start('token-of-ann');
    const { hub } = open({ url: server.url });
    expect(await call(hub, 'token-of-ann')).toMatch(/"authorization":"Bearer \[hidden\]".* Bearer \[hidden\]$/);
    const failure = (await whatIsThrown(call(hub, 'token-of-ann', 'fail'))) as Error;
    expect(failure.message).toContain('[hidden]');
    expect(failure.message).not.toContain('token-of-ann');
  });

  it('end when their credential is refused: the call is made once more with another one (C-16)', async () => {
    const server = await start('token-1-of-ann');
    const { hub, logged } = open({ url: server.url });
    await call(hub, 'token-1-of-ann');
    server.accepted.clear();
    server.accepted.add('token-2-of-ann');
    let renewed = 0;
    const renew: McpCredential['renew'] = () => Promise.resolve(++renewed === 1 ? 'token-2-of-ann' : null);
    await call(hub, 'token-1-of-ann', 'echo', renew);
    expect(renewed).toBe(1);
    expect(server.ran).toEqual(['token-1-of-ann', 'token-2-of-ann']);
    await until(() => server.ended === 1);
    // The first of a new process is refused before it is connected.
    await call(hub, 'token-1-of-ann', 'echo', () => Promise.resolve('token-2-of-ann'));
    expect(server.ran).toEqual(['token-1-of-ann', 'token-2-of-ann', 'token-2-of-ann']);
    expect(logged.join()).not.toMatch(/token-\d/);
  });

  it('are connected before a call with the credential, which is renewed where it is refused', async () => {
    const server = await start('token-2-of-ann');
    const { hub } = open({ url: server.url });
    const options = { signal: new AbortController().signal, timeoutMs: 15_000, pin: null };
    const renew: McpCredential['renew'] = () => Promise.resolve('token-2-of-ann');
    await hub.connect('a', 'echo', { ...options, credential: { token: 'token-1-of-ann', renew } });
    expect([server.begun, server.ran]).toEqual([['token-2-of-ann'], []]);
    await call(hub, 'token-2-of-ann');
    expect([server.begun, server.ran]).toEqual([['token-2-of-ann'], ['token-2-of-ann']]);
    const refused = { ...options, credential: { token: 'token-1-of-ann', renew: none } };
    await expect(hub.connect('a', 'echo', refused)).rejects.toThrow(ToolConnectionUnreachableError);
  });

  it.each([
    ['there is no other', none],
    ['the other is refused as well', () => Promise.resolve('token-3-of-ann')],
  ])('are out of reach where %s, and the call was made nowhere', async (_, renew) => {
    const server = await start();
    const { hub, logged } = open({ url: server.url });
    const error = (await whatIsThrown(call(hub, 'token-1-of-ann', 'echo', renew))) as Error;
    expect(error).toBeInstanceOf(ToolConnectionUnreachableError);
    expect(error.message).toBe('The MCP server a does not accept the credential of its connection.');
    expect(server.ran).toEqual([]);
    expect(JSON.stringify([logged, hub.status()])).not.toMatch(/token-\d/);
  });

  it('are closed when they were unused for a while, and not before their last call is over', async () => {
    const server = await start('token-of-ann', 'token-of-bob');
    const { hub } = open({ url: server.url }, { idleMs: 20 });
    const held = call(hub, 'token-of-ann', 'hold');
    await call(hub, 'token-of-bob');
    await until(() => server.ended === 1);
    server.release();
    expect(await held).toBe('held');
    await until(() => server.ended === 2);
    await call(hub, 'token-of-ann');
    expect(server.begun).toHaveLength(3);
  });

  it('are never more than they may be: the one unused for longest makes room, and none that is in use', async () => {
    const tokens = Array.from({ length: 130 }, (_, at) => `token-of-number-${at}`);
    const server = await start(...tokens);
    const { hub } = open({ url: server.url });
    for (const token of tokens.slice(0, 128)) await call(hub, token);
    await call(hub, tokens[128] as string);
    await until(() => server.ended === 1);
    await call(hub, tokens[1] as string);
    expect(server.begun).toHaveLength(129);
    const held = tokens.slice(1, 129).map((token) => call(hub, token, 'hold'));
    await until(() => server.ran.length === 130 + 128);
    expect(await whatIsThrown(call(hub, tokens[129] as string))).toBeInstanceOf(ToolUnavailableError);
    server.release();
    await Promise.all(held);
  });

  it('are not there for a call without a credential', async () => {
    const server = await start('token-of-ann');
    const { hub } = open({ url: server.url });
    const options = { signal: new AbortController().signal, timeoutMs: 1_000, idempotencyKey: 'k', pin: null };
    expect(await whatIsThrown(hub.call('a', 'echo', {}, options))).toBeInstanceOf(ToolUnavailableError);
    expect(server.begun).toEqual([]);
  });

  it('of a server by command are processes, each with the credential in its variable', async () => {
    const program = join(import.meta.dirname, 'mcp-servers/credential.mjs');
    const { hub, logged } = open({ command: process.execPath, args: [program], connectionEnv: 'THEIR_TOKEN' });
    const said = await Promise.all(['token-of-ann', 'token-of-bob'].map((token) => call(hub, token, 'length')));
    expect(said).toEqual(['12 [hidden]', '12 [hidden]']);
    const pids = await Promise.all(['token-of-ann', 'token-of-bob'].map((token) => call(hub, token, 'pid')));
    expect(new Set(pids).size).toBe(2);
    expect(logged.join()).not.toContain('token-of');
  });
});

describe('what a server offers that wants a credential', () => {
  it('is asked with Sluice’s own, again if that is refused', async () => {
    const server = await start('token-2-of-sluice');
    const refused: (string | undefined)[] = [];
    const credential = async (_: McpServer, before?: string): Promise<string> => {
      refused.push(before);
      return before === undefined ? 'token-1-of-sluice' : 'token-2-of-sluice';
    };
    const { hub } = open({ url: server.url }, { credential });
    expect(await hub.discover()).toMatchObject([
      { server: 'a', tools: [{ name: 'echo' }, { name: 'hold' }, { name: 'fail' }] },
    ]);
    expect(refused).toEqual([undefined, 'token-1-of-sluice']);
  });

  it('is unknown where there is none, with the reason', async () => {
    const { hub } = open(
      { url: 'http://127.0.0.1:1/' },
      { credential: () => Promise.reject(new Error('There is none.')) },
    );
    expect(await hub.discover()).toEqual([{ server: 'a', error: 'There is none.' }]);
  });

  it('is unknown where it is not accepted, said without it', async () => {
    const server = await start();
    const { hub } = open({ url: server.url }, { credential: () => Promise.resolve('token-1-of-sluice') });
    const [offer] = await hub.discover();
    expect(offer).toMatchObject({ server: 'a', error: expect.stringContaining('401') });
    expect(JSON.stringify(offer)).not.toContain('token-1');
  });
});
