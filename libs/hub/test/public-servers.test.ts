import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import type { McpHub } from '@sluice/hub';

/** The folder in which the packages are installed; docs/mcp-hub.md says how. Without it there is nothing to test. */
const folder = process.env['SLUICE_PUBLIC_MCP_SERVERS'];
const files = mkdtempSync(join(tmpdir(), 'public-mcp-'));
writeFileSync(join(files, 'hello.txt'), 'Hello from a file.');
const hubs: McpHub[] = [];
afterEach(() => Promise.all(hubs.splice(0).map((hub) => hub.close())));
afterAll(() => rmSync(files, { recursive: true }));

interface PublicServer {
  readonly name: string;
  readonly from: string;
  readonly args?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  /** A tool that it has; and what a call gives, where one needs no account, browser or network. */
  readonly tool: string;
  readonly call?: readonly [args: JsonObject, gives: RegExp];
}

const servers: readonly PublicServer[] = [
  {
    name: 'filesystem',
    from: '@modelcontextprotocol/server-filesystem',
    args: [files],
    tool: 'read_text_file',
    call: [{ path: join(files, 'hello.txt') }, /Hello from a file/],
  },
  {
    name: 'memory',
    from: '@modelcontextprotocol/server-memory',
    variables: { MEMORY_FILE_PATH: join(files, 'memory.jsonl') },
    tool: 'read_graph',
    call: [{}, /entities/],
  },
  {
    name: 'everything',
    from: '@modelcontextprotocol/server-everything',
    tool: 'echo',
    call: [{ message: 'over the hub' }, /over the hub/],
  },
  {
    name: 'sequential-thinking',
    from: '@modelcontextprotocol/server-sequential-thinking',
    tool: 'sequentialthinking',
    call: [{ thought: 'One.', thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false }, /thoughtNumber/],
  },
  { name: 'playwright', from: '@playwright/mcp', args: ['--headless'], tool: 'browser_navigate' },
  {
    name: 'notion',
    from: '@notionhq/notion-mcp-server',
    variables: { NOTION_TOKEN: 'ntn_made_up' },
    tool: 'API-post-search',
  },
  { name: 'context7', from: '@upstash/context7-mcp', tool: 'resolve-library-id' },
];

/** The file that a package starts with. */
function programOf(from: string): string {
  const at = join(folder ?? '', 'node_modules', from);
  const { bin } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as {
    bin: string | Record<string, string>;
  };
  return join(at, typeof bin === 'string' ? bin : (Object.values(bin)[0] ?? ''));
}

const whereInstalled = folder === undefined ? describe.skip : describe;

whereInstalled('the public servers', () => {
  it.each(servers)(
    '$name is connected through the hub',
    async ({ name, from, args = [], variables = {}, tool, call }) => {
      const server = {
        id: name,
        command: process.execPath,
        args: [programOf(from), ...args],
        url: null,
        startMs: 60_000,
      };
      const hub = createMcpHub([{ ...server, env: Object.keys(variables) }], {
        environment: () => ({ PATH: process.env['PATH'] ?? '', HOME: files, ...variables }),
        onChange: () => undefined,
      });
      hubs.push(hub);
      const [offer] = await hub.discover();
      if (offer === undefined || !('tools' in offer)) throw new Error(offer?.error);
      expect(offer.tools.map((one) => one.name)).toContain(tool);
      if (call === undefined) return;
      const options = { signal: new AbortController().signal, idempotencyKey: 'k', timeoutMs: 30_000, pin: null };
      expect(JSON.stringify(await hub.call(name, tool, call[0], options))).toMatch(call[1]);
    },
    120_000,
  );
});
