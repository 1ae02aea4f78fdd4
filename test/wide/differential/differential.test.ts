/**
 * Real servers, asked directly and through Sluice by the same client: what a client gets is equal, but for the table of
 * docs/mcp-hub.md, which this reads.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { isJsonObject } from '@sluice/core';
import { findPackages } from '../../cluster/outside-tools.js';
import { projectRoot } from '../../harness/configurations.js';
import { clientInfo, oldClient, startMcpSystem } from '../../mcp/with-mcp.js';
import { npmPackages, pythonPackages, servers } from './servers.js';
import type { Compared, Places } from './servers.js';

const cache = join(projectRoot, 'node_modules/.cache/sluice-differential');
const folder = mkdtempSync(join(tmpdir(), 'sluice-differential-'));
const page = createServer((_, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.end(
    '<!doctype html><title>Orders</title><link rel="icon" href="data:,"><h1>Orders</h1><label>Name <input id="name"></label>' +
      '<select id="size"><option>small<option>large</select><button id="order">Order</button>' +
      '<script>console.log("ready")</script>',
  );
});
let places: Places;

beforeAll(async () => {
  if (!existsSync(join(cache, 'node_modules'))) {
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, 'package.json'), '{ "private": true }');
    const more = ['--no-audit', '--no-fund', '--ignore-scripts'];
    await promisify(execFile)('npm', ['install', '--save-exact', ...more, ...npmPackages], { cwd: cache });
  }
  const python = await findPackages(pythonPackages, 'sluice-differential-python');
  if ('missing' in python) throw new Error(python.missing);
  page.listen(0, '127.0.0.1');
  await new Promise((resolve) => page.once('listening', resolve));
  places = {
    bin: join(cache, 'node_modules/.bin'),
    python: ['env', ...Object.entries(python.variables).map(([key, value]) => `${key}=${value}`), python.command],
    chromium: process.env['SLUICE_CHROMIUM'] ?? '/usr/bin/chromium',
    page: `http://127.0.0.1:${String((page.address() as AddressInfo).port)}/`,
  };
}, 600_000);

afterAll(() => {
  page.closeAllConnections();
  page.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Differences that docs/mcp-hub.md lists for a server: what differs, by its name. */
function listed(server: string): readonly string[] {
  const text = readFileSync('docs/mcp-hub.md', 'utf8');
  const [, section = ''] = /^## What differs from a direct connection\n([\s\S]*?)^## /m.exec(text) ?? [];
  return [...section.matchAll(/^\| `([^`]+)` \| `([^`]+)` \|/gm)].flatMap(([, own, what = '']) =>
    own === server ? [what] : [],
  );
}

interface Seen {
  readonly tools: ReadonlyMap<string, unknown>;
  readonly prompts: ReadonlyMap<string, unknown>;
  readonly resources: ReadonlyMap<string, unknown>;
  readonly templates: ReadonlyMap<string, unknown>;
  readonly answers: ReadonlyMap<string, unknown>;
}

/** All that a client sees, with the server’s names, and without what differs from one process to the next. */
async function seenBy(client: Client, compared: Compared, own: string, prefix: Prefix): Promise<Seen> {
  const plain = (value: unknown): unknown =>
    JSON.parse(normalized(JSON.stringify(value ?? null, withReadableBlobs), own)) as unknown;
  const answers = new Map<string, unknown>();
  const note = async (name: string, ask: () => Promise<unknown>): Promise<void> => {
    const answer = await ask().catch((error: unknown) => ({ error: (error as Error).message }));
    answers.set(name, plain(answerAsCompared(withoutOwn(answer))));
  };
  const { tools } = await client.listTools();
  const offers = client.getServerCapabilities() ?? {};
  const prompts = offers.prompts === undefined ? [] : (await client.listPrompts()).prompts;
  const isTheirs = (address: string): boolean => !address.startsWith(ownResources);
  const resources =
    offers.resources === undefined ? [] : (await client.listResources()).resources.filter(({ uri }) => isTheirs(uri));
  const templates =
    offers.resources === undefined
      ? []
      : (await client.listResourceTemplates()).resourceTemplates.filter(({ uriTemplate }) => isTheirs(uriTemplate));
  for (const [at, [tool, args]] of compared.calls(own, places.page).entries())
    await note(`${tool} #${String(at)}`, () => client.callTool({ name: `${prefix.tool}${tool}`, arguments: args }));
  for (const [name, args] of compared.prompts ?? [])
    await note(`prompt ${name}`, () => client.getPrompt({ name: `${prefix.prompt}${name}`, arguments: args }));
  for (const uri of [...resources.map((resource) => resource.uri), ...(compared.resources ?? [])])
    await note(`resource ${uri}`, () => client.readResource({ uri }));
  const named = (items: readonly { readonly name: string }[], begin: string): Map<string, unknown> =>
    new Map(
      items.map((item) => {
        const name = item.name.startsWith(begin) ? item.name.slice(begin.length) : item.name;
        return [name, plain(withoutOwn({ ...item, name }))];
      }),
    );
  return {
    answers,
    tools: named(tools.map(toolAsCompared), prefix.tool),
    prompts: named(prompts, prefix.prompt),
    resources: new Map(resources.map((item) => [item.uri, plain(withoutOwn(item))])),
    templates: new Map(templates.map((item) => [item.uriTemplate, plain(withoutOwn(item))])),
  };
}

interface Prefix {
  readonly tool: string;
  readonly prompt: string;
}

/** Sluice has a page for each tool beside the resources of servers. */
const ownResources = 'sluice://';

type ListedTool = Awaited<ReturnType<Client['listTools']>>['tools'][number];

/** Without what the page lists for all servers: annotations, the dialect of schemas, how tasks are run. */
function toolAsCompared({ annotations, execution: _, ...tool }: ListedTool): { readonly name: string } {
  const title = tool.title ?? annotations?.title;
  const schema = ({ $schema: dialect, ...rest }: Readonly<Record<string, unknown>>): object => rest;
  return {
    ...tool,
    ...(title === undefined ? {} : { title }),
    ...{ inputSchema: schema(tool.inputSchema) },
    ...(tool.outputSchema === undefined ? {} : { outputSchema: schema(tool.outputSchema) }),
  };
}

/** A success need not say that it is none; of the tool’s own errors the beginning is compared. */
function answerAsCompared(answer: unknown): unknown {
  if (!isJsonObject(answer)) return answer;
  const { isError, ...rest } = answer;
  if (isError !== true) return rest;
  const [first] = Array.isArray(rest['content']) ? (rest['content'] as readonly unknown[]) : [];
  return { isError, begins: isJsonObject(first) ? String(first['text']).slice(0, 30) : first };
}

/** What servers put into bytes has times in it as well. */
function withReadableBlobs(key: string, value: unknown): unknown {
  return key === 'blob' ? Buffer.from(String(value), 'base64').toString('latin1') : value;
}

/** Without what Sluice and the newest revision of the protocol add to `_meta` under names of their own. */
function withoutOwn(value: unknown): unknown {
  if (!isJsonObject(value) || !isJsonObject(value['_meta'])) return value;
  const { _meta, ...rest } = value;
  const others = Object.fromEntries(
    Object.entries(_meta as object).filter(([key]) => !/^(?:sluice|io\.modelcontextprotocol)\//.test(key)),
  );
  return Object.keys(others).length === 0 ? rest : { ...rest, _meta: others };
}

/** Folders, times, hashes of commits and ports differ from one process to the next. */
function normalized(text: string, own: string): string {
  return text
    .replaceAll(own, '<folder>')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d[:-]\d\d[:-]\d\d(?:[.-]\d+)?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>')
    .replace(/\w{3} \w{3} \d\d \d{4} \d\d:\d\d:\d\d GMT[+-]\d{4} \([^)]*\)/g, '<time>')
    .replace(/\d{1,2}:\d\d:\d\d(?: [AP]M)?/g, '<time>')
    .replace(/\b[0-9a-f]{40}\b|\b[0-9a-f]{7}\.\.[0-9a-f]{7}\b/g, '<hash>')
    .replace(/\b\d+(?:\.\d+)? ?ms\b/g, '<ms>');
}

/** What differs, by its name: of an answer that of its tool. */
function differences(direct: Seen, through: Seen): ReadonlyMap<string, readonly [unknown, unknown]> {
  const found = new Map<string, readonly [unknown, unknown]>();
  for (const kind of ['tools', 'prompts', 'resources', 'templates', 'answers'] as const)
    for (const name of new Set([...direct[kind].keys(), ...through[kind].keys()])) {
      const [one, other] = [direct[kind].get(name), through[kind].get(name)];
      const what = kind === 'answers' ? name.replace(/ #\d+$/, '()') : `${kind}: ${name}`;
      if (JSON.stringify(sorted(one)) !== JSON.stringify(sorted(other))) found.set(what, [one, other]);
    }
  return found;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

describe('a client gets through Sluice what the server gives it directly', () => {
  it.each(Object.keys(servers))(
    '%s',
    async (name) => {
      const compared = servers[name] as Compared;
      const [one, other] = ['direct', 'through'].map((way) => {
        const own = join(folder, name, way);
        mkdirSync(own, { recursive: true });
        compared.prepare?.(own);
        return own;
      }) as [string, string];
      const client = new Client(clientInfo);
      const [command = '', ...args] = compared.command(places, one);
      await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
      const direct = await seenBy(client, compared, one, { tool: '', prompt: '' });
      await client.close();
      const asked = new Set(compared.calls(one, places.page).map(([tool]) => tool));
      expect([...direct.tools.keys()].filter((tool) => !asked.has(tool))).toEqual([]);

      const [program = '', ...given] = compared.command(places, other);
      const system = await startMcpSystem(
        JSON.stringify({
          tool: Object.fromEntries(
            ['tools', 'prompts', 'resources'].map((key) => [key, { type: 'mcp-tool', group: ['g'] }]),
          ),
          mcp: {
            servers: {
              [name]: {
                command: program,
                args: given,
                timeout_seconds: 60,
              },
            },
            tools: {
              tools: { server: name, tools: ['*'], effect: 'read_only', redaction: 'whole' },
              prompts: { server: name, prompt: '*', redaction: 'whole' },
              resources: { server: name, resource: '*', redaction: 'whole' },
            },
          },
          policy: { allowed_tools: ['tools', 'prompts', 'resources'] },
        }),
      );
      try {
        const behind = await oldClient(system.mcp.url);
        const through = await seenBy(behind, compared, other, { tool: `${name}___`, prompt: 'prompts/' });
        await behind.close();
        const found = differences(direct, through);
        const { SLUICE_SHOW_DIFFERENCES: shown } = process.env;
        if (shown !== undefined)
          writeFileSync(join(shown, `${name}.json`), JSON.stringify(Object.fromEntries(found), null, 1));
        expect([...found.keys()].sort()).toEqual([...listed(name)].sort());
      } finally {
        await system.close();
      }
    },
    300_000,
  );
});
