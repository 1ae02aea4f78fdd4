import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ToolUnavailableError } from '@sluice/core';
import type { JsonValue, McpServer } from '@sluice/core';
import { noTraces } from '@sluice/host';
import { until } from '../../../libs/hub/test/waiting.js';
import { McpServers } from '../src/mcp-servers.js';

const script = join(import.meta.dirname, '../../../libs/hub/test/mcp-servers/scripted.mjs');

const server = (id: string, ...args: string[]): McpServer => ({
  id,
  command: process.execPath,
  args: [script, ...args],
  env: [],
  url: null,
  startMs: 10_000,
});

function isAlive(pid: JsonValue): boolean {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

let servers: McpServers;
let changed: string[];
function open(): McpServers {
  changed = [];
  const environment = { forChild: () => ({ PATH: process.env['PATH'] ?? '' }), secret: () => undefined };
  const log = { warn: () => undefined };
  return (servers = new McpServers(environment, log as never, (id) => changed.push(id), noTraces));
}
afterEach(() => servers.close());

const ask = (id: string, tool: string): Promise<JsonValue> => {
  const { signal } = new AbortController();
  return servers.call(id, tool, {}, { signal, timeoutMs: 20_000, idempotencyKey: 'k', pin: null });
};
const ids = (): string[] => servers.status().map((status) => status.server);

describe('MCP servers when others come into force', () => {
  it('keep their connection and their calls where their entry stays as it is', async () => {
    open().use([server('a'), server('b')]);
    const pid = await ask('a', 'pid');
    const call = ask('a', 'soon');
    servers.use([server('c'), server('a')]);
    expect(ids()).toEqual(['c', 'a']);
    expect(await call).toBe('done');
    expect(await ask('a', 'pid')).toBe(pid);
  });

  it('end their calls first where they are changed or gone, and then are let go', async () => {
    open().use([server('a'), server('b')]);
    const pids = [await ask('a', 'pid'), await ask('b', 'pid')];
    const calls = [ask('a', 'soon'), ask('b', 'soon')];
    servers.use([server('a', '--page', '10')]);
    const other = await ask('a', 'pid');
    expect(other).not.toBe(pids[0]);
    await expect(ask('b', 'pid')).rejects.toThrow(ToolUnavailableError);
    expect(await Promise.all(calls)).toEqual(['done', 'done']);
    await until(() => !pids.some(isAlive));
    expect(isAlive(other)).toBe(true);
  });

  it('are let go at once where no call uses them', async () => {
    open().use([server('a')]);
    const pid = await ask('a', 'pid');
    servers.use([]);
    await until(() => !isAlive(pid));
  });

  it('are the ones that are called as long as others are only asked what they offer', async () => {
    open().use([server('a'), server('b')]);
    const [pid, gone] = [await ask('a', 'pid'), await ask('b', 'pid')];
    const call = ask('b', 'soon');
    expect(await servers.offers([server('a', '--page', '10'), server('c')])).toMatchObject([
      { server: 'a', tools: expect.any(Array) },
      { server: 'c', tools: expect.any(Array) },
    ]);
    expect(ids()).toEqual(['a', 'b']);
    expect([await ask('a', 'pid'), await ask('b', 'pid')]).toEqual([pid, gone]);
    expect(await call).toBe('done');
    // What was asked is called over the connection that it was asked by.
    servers.use([server('a', '--page', '10'), server('c')]);
    expect(servers.status()).toMatchObject([{ state: 'ready' }, { state: 'ready' }]);
    await until(() => ![pid, gone].some(isAlive));
  });

  it('are not heard any more when they change while their last call ends', async () => {
    open().use([server('a')]);
    const call = ask('a', 'soon');
    servers.use([server('a', '--page', '10')]);
    expect(await call).toBe('done');
    expect(changed).toEqual([]);
    await ask('a', 'soon');
    expect(changed).toEqual(['a']);
  });
});
