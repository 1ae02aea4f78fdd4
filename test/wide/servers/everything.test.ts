/**
 * The protocol's own server of everything, of an npm package that is installed in a cache folder: a client that is
 * connected to it gets the same as one that is connected to Sluice, embedded and on Kafka.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { openCluster } from '../../cluster/cluster.js';
import { eventually } from '../../harness/eventually.js';
import { startTimeout } from '../../infra/client.js';
import { clientInfo, newClient, oldClient, startMcpSystem } from '../../mcp/with-mcp.js';

const packaged = '@modelcontextprotocol/server-everything';
const cache = process.env['SLUICE_PUBLIC_MCP_SERVERS'] ?? join(tmpdir(), 'sluice-public-mcp-servers');
const script = join(cache, 'node_modules', packaged, 'dist/index.js');

const configuration = `
tool:
  everything: { type: mcp-tool, group: [g] }
  resources: { type: mcp-tool, group: [g] }
  prompts: { type: mcp-tool, group: [g] }
mcp:
  servers: { everything: { command: node, args: ["${script}"], sampling: { tokens: 2000 } } }
  tools:
    everything: { server: everything, tools: ['*'], redaction: whole }
    resources: { server: everything, resource: '*', redaction: whole }
    prompts: { server: everything, prompt: '*', redaction: whole }
policy:
  allowed_tools: [everything, resources, prompts]
`;

beforeAll(async () => {
  if (existsSync(script)) return;
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), '{ "private": true }');
  const more = ['--no-audit', '--no-fund', '--ignore-scripts'];
  await promisify(execFile)('npm', ['install', '--save-exact', ...more, `${packaged}@2026.8.31`], { cwd: cache });
}, 600_000);

/** Where the server is reached over Sluice, and what ends that. */
interface Opened {
  readonly url: string;
  close(): Promise<void>;
}

async function embedded(): Promise<Opened> {
  const system = await startMcpSystem(configuration);
  return { url: system.mcp.url, close: () => system.close() };
}

async function onKafka(): Promise<Opened> {
  const cluster = await openCluster(configuration);
  const [, , , door] = await Promise.all(
    (['filter', 'agent', 'executor', 'mcp'] as const).map((role) => cluster.start(role)),
  );
  const url = /"url":"([^"]+)"/.exec(door?.said() ?? '')?.[1] ?? '';
  return { url: url.endsWith('/mcp') ? url : `${url}/mcp`, close: () => cluster.close() };
}

/** What a client hears of a call beside its result. */
async function heard(client: Client, name: string, args: Record<string, unknown>) {
  const progress: Progress[] = [];
  const logged: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params));
  const onprogress = (said: Progress): void => void progress.push(said);
  const { content, isError } = await client.callTool({ name, arguments: args }, undefined, { onprogress });
  return { content, isError: isError === true, progress, logged };
}

describe.each([
  ['embedded', embedded],
  ['on Kafka', onKafka],
] as const)('the server of everything through Sluice, %s', (_, open) => {
  let opened: Opened;
  let through: Client;
  let direct: Client;
  beforeAll(async () => {
    opened = await open();
    through = await oldClient(opened.url);
    direct = new Client(clientInfo);
    await direct.connect(new StdioClientTransport({ command: process.execPath, args: [script], stderr: 'ignore' }));
  }, startTimeout);
  afterAll(async () => {
    await direct?.close();
    await through?.close();
    await opened?.close();
  });

  it('reports the progress of a long operation in the server’s numbers', async () => {
    const [name, args] = ['trigger-long-running-operation', { duration: 2, steps: 4 }] as const;
    const { content, isError } = await heard(direct, name, args);
    // The client of SDK 1.x drops progress that comes together with its answer, as the last one does over stdio.
    const progress = [1, 2, 3, 4].map((step) => ({ progress: step, total: 4 }));
    expect(await heard(through, `everything___${name}`, args)).toEqual({ content, isError, progress, logged: [] });
  });

  it('logs to the client at its level what the server logs while a call runs', async () => {
    await through.setLoggingLevel('debug');
    const begun = await heard(through, 'everything___toggle-simulated-logging', {});
    expect(begun.isError).toBe(false);
    const later = await heard(through, 'everything___trigger-long-running-operation', { duration: 6, steps: 2 });
    const own = (all: readonly unknown[]) => all.filter((one) => (one as { logger?: string }).logger !== 'tools');
    const data = [...own(begun.logged), ...own(later.logged)].map((one) => (one as { data: string }).data);
    expect(data.length).toBeGreaterThanOrEqual(1);
    expect(data.every((one) => /^\w+[- ]level[- ]message$/.test(one))).toBe(true);
    await through.setLoggingLevel('emergency');
    await heard(through, 'everything___toggle-simulated-logging', {});
  });

  it('asks for roots, a form and the words of a model in the middle of calls, of a task too', async () => {
    const client = new Client(clientInfo, { capabilities: { elicitation: {} } });
    const shown: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      shown.push(params.message);
      const isResearch = params.message.includes('research');
      return { action: 'accept', content: isResearch ? { interpretation: 'snake' } : { name: 'Ann Example' } };
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(opened.url)) as Transport);
    const said = async (name: string, args: Record<string, unknown> = {}): Promise<string> => {
      const { content } = await client.callTool({ name: `everything___${name}`, arguments: args });
      return JSON.stringify(content);
    };
    expect(await said('get-roots-list')).toContain('no roots are currently configured');
    expect(await said('trigger-elicitation-request')).toContain('- Name: Ann Example');
    expect(await said('trigger-sampling-request', { prompt: 'Hello', maxTokens: 64 })).toContain('LLM sampling result');
    const research = await said('simulate-research-query', { topic: 'python', ambiguous: true });
    expect(research).toContain('Research Report: python (snake)');
    expect(shown).toEqual(Array(2).fill(expect.stringContaining('The MCP server everything asks:')));
    await client.close();
  });

  it('has the server’s resources and templates, texts and bytes', async () => {
    const { resources } = await direct.listResources();
    const listed = (await through.listResources()).resources.filter(({ uri }) => !uri.startsWith('sluice:'));
    expect(listed).toEqual(resources);
    const { resourceTemplates } = await direct.listResourceTemplates();
    expect((await through.listResourceTemplates()).resourceTemplates.slice(1)).toEqual(resourceTemplates);
    expect(resources.length).toBeGreaterThan(3);
    for (const { uri } of resources) expect(await contentsOf(through, uri)).toEqual(await contentsOf(direct, uri));
    for (const uri of ['demo://resource/dynamic/text/1', 'demo://resource/dynamic/blob/2'])
      expect(await contentsOf(through, uri)).toEqual(await contentsOf(direct, uri));
  });

  it('hears when resources change that it subscribed to, of both eras', async () => {
    const recent = await newClient(opened.url);
    const heard: string[] = [];
    const listened: string[] = [];
    const [text, other] = ['demo://resource/dynamic/text/1', 'demo://resource/dynamic/text/2'];
    through.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.push(params.uri));
    recent.setNotificationHandler('notifications/resources/updated', ({ params }) => void listened.push(params.uri));
    await through.subscribeResource({ uri: text });
    const { honoredFilter, close } = await recent.listen({ resourceSubscriptions: [other] });
    expect(honoredFilter.resourceSubscriptions).toEqual([other]);
    // From now on the server says it every five seconds.
    await through.callTool({ name: 'everything___toggle-subscriber-updates', arguments: {} });
    await eventually(
      () => [heard.length, listened.length],
      ([one = 0, two = 0]) => one >= 2 && two >= 2,
    );
    expect([new Set(heard), new Set(listened)]).toEqual([new Set([text]), new Set([other])]);
    await through.unsubscribeResource({ uri: text });
    await close();
    await through.callTool({ name: 'everything___toggle-subscriber-updates', arguments: {} });
    await recent.close();
  });

  it('has the server’s prompts, and completes their arguments and those of templates', async () => {
    const { prompts } = await direct.listPrompts();
    expect((await through.listPrompts()).prompts).toEqual(
      prompts.map((prompt) => ({ ...prompt, name: `prompts/${prompt.name}` })),
    );
    const args = { city: 'Rome', department: 'Engineering', name: 'Alice', resourceType: 'Text', resourceId: '1' };
    for (const { name, arguments: taken = [] } of prompts) {
      const given = Object.fromEntries(Object.entries(args).filter(([key]) => taken.some((one) => one.name === key)));
      const wanted = withoutTime(await direct.getPrompt({ name, arguments: given }));
      expect(withoutTime(await through.getPrompt({ name: `prompts/${name}`, arguments: given }))).toEqual(wanted);
    }
    const asked = async (client: Client, prefix: string) => {
      const ref = { type: 'ref/prompt', name: `${prefix}completable-prompt` } as const;
      const context = { arguments: { department: 'Engineering' } };
      const [departments, names, ids] = [
        await client.complete({ ref, argument: { name: 'department', value: 'E' } }),
        await client.complete({ ref, argument: { name: 'name', value: 'A' }, context }),
        await client.complete({
          ref: { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' },
          argument: { name: 'resourceId', value: '1' },
        }),
      ];
      return [departments, names, ids].map(({ completion }) => completion);
    };
    const wanted = await asked(direct, '');
    expect(wanted.map(({ values }) => values)).toEqual([['Engineering'], ['Alice'], ['1']]);
    expect(await asked(through, 'prompts/')).toEqual(wanted);
  });
});

/** Contents as they are, but for times in them. */
async function contentsOf(client: Client, uri: string): Promise<unknown> {
  const { contents } = await client.readResource({ uri });
  return contents.map((one) => ('blob' in one ? { ...one, blob: noTime(atob(one.blob as string)) } : withoutTime(one)));
}

function withoutTime(value: unknown): unknown {
  return JSON.parse(noTime(JSON.stringify(value)));
}

function noTime(text: string): string {
  return text.replace(/\d{1,2}:\d{2}:\d{2}( [AP]M)?/g, 'now');
}
