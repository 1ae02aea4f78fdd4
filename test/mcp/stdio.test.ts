import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Client as NewClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema, CreateTaskResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { projectRoot, workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { clientInfo } from './with-mcp.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-stdio-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const config = join(folder, 'sluice.yaml');
writeFileSync(config, workflowConfiguration());
/** Where a tool says that it has begun, and is told that it may end. */
const gate = join(folder, 'gate');
const sharedConfig = join(folder, 'shared.yaml');
writeFileSync(
  sharedConfig,
  `tool: { wait: { type: mcp-tool, group: [g] }, now: { type: get_current_time, group: [g] } }
mcp:
  servers: { waiting: { command: node, args: ["${join(projectRoot, 'libs/hub/test/mcp-servers/waiting.mjs')}", "${gate}"] } }
  tools: { wait: { server: waiting, tool: wait, effect: read_only, redaction: whole } }
policy: { allowed_tools: [wait, now] }
limits: { tool_seconds: 200, run_seconds: 400 }
`,
);

/** The command as a client’s configuration has it, on a data folder where no services run. */
const started = (data: string, configuration = config) => ({
  command: process.execPath,
  args: [join(projectRoot, 'dist/main.js'), 'mcp', 'serve'],
  cwd: projectRoot,
  env: {
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: join(projectRoot, 'node_modules/.cache/compiled'),
    SLUICE_DATA: join(folder, data),
    SLUICE_CONFIG: configuration,
  },
});
const query = { name: 'knowledge-query', arguments: { sparql: 'SELECT * WHERE { ?a ?b ?c } LIMIT 1' } };
const names = (tools: readonly { readonly name: string }[]): readonly string[] => tools.map(({ name }) => name);

it.each(['serve', 'operator'])('`sluice mcp %s` ends with a client that leaves before it said anything', (which) => {
  const { command, args, cwd, env } = started(`left-${which}`);
  const words = args.map((word) => (word === 'serve' ? which : word));
  const { status } = spawnSync(command, words, { cwd, env: { ...env, SLUICE_PORT: '0' }, input: '', timeout: 120_000 });
  expect(status).toBe(0);
});

describe('`sluice mcp serve`, started by a client over stdio', () => {
  it('lists, calls, moves the state and refuses, with the SDK’s client of 1.x, and ends with it (M-01, M-20, M-21)', async () => {
    const client = new OldClient(clientInfo);
    const transport = new OldTransport(started('old'));
    await client.connect(transport, { timeout: 120_000 });
    const { pid } = transport;
    expect(names((await client.listTools()).tools)).toEqual(['knowledge-query', 'text-completion']);
    expect(await client.callTool(query)).toMatchObject({ isError: false, content: [{ type: 'text' }] });
    expect(names((await client.listTools()).tools)).toContain('graph-update');
    const refused = await client.callTool(query);
    expect(refused).toMatchObject({ isError: true, _meta: { 'sluice/error': { category: 'permission' } } });
    await expect(client.callTool({ name: 'no-such-tool' })).rejects.toMatchObject({ code: -32_602 });
    await client.close();
    expect(isRunning(pid)).toBe(false);
  });

  it('serves the era without sessions, whose state no call moves (M-01)', async () => {
    const client = new NewClient(clientInfo, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new NewTransport(started('new')), { timeout: 120_000 });
    const before = names((await client.listTools()).tools);
    expect(before).toEqual(['knowledge-query', 'text-completion']);
    expect(await client.callTool(query)).toMatchObject({ isError: false });
    expect(names((await client.listTools()).tools)).toEqual(before);
    expect(await client.callTool({ name: 'graph-update', arguments: {} })).toMatchObject({ isError: true });
    await client.close();
  });
});

describe('several clients on one data folder', () => {
  const open: OldClient[] = [];
  afterAll(() => Promise.all(open.map((client) => client.close())));
  const connected = async (data: string) => {
    const client = new OldClient(clientInfo);
    const transport = new OldTransport(started(data, sharedConfig));
    await client.connect(transport, { timeout: 120_000 });
    open.push(client);
    return { client, pid: transport.pid ?? 0 };
  };
  const now = { name: 'now', arguments: {} };
  const done = { isError: false, content: [{ type: 'text', text: 'Done.' }] };
  const begun = (n: number) =>
    eventually(
      () => (existsSync(`${gate}.begun`) ? readFileSync(`${gate}.begun`, 'utf8').split('\n') : []),
      (lines) => lines.includes(String(n)),
    );

  it('share one set of services when they start at once, and take them over from one that quits', async () => {
    const [one, two, three] = await Promise.all(['shared', 'shared', 'shared'].map(connected));
    if (one === undefined || two === undefined || three === undefined) throw new Error('A client is missing.');
    const calls = [one, two, three].map(({ client }) => client.callTool(now));
    for (const call of calls) expect(await call).toMatchObject({ isError: false });
    // Whichever runs the services: two of the three quit, one after another, in the middle of a call of the last.
    const held = three.client.callTool({ name: 'waiting___wait', arguments: { n: 1 } }, undefined, {
      timeout: 240_000,
    });
    await begun(1);
    await one.client.close();
    expect(await two.client.callTool(now)).toMatchObject({ isError: false });
    await two.client.close();
    expect(await three.client.callTool(now)).toMatchObject({ isError: false });
    writeFileSync(`${gate}.1`, '');
    expect(await held).toMatchObject(done);
  });

  it('lose nothing where the one that runs the services is killed in the middle of a call', async () => {
    const first = await connected('killed');
    const second = await connected('killed');
    const held = second.client.callTool({ name: 'waiting___wait', arguments: { n: 2 } }, undefined, {
      timeout: 240_000,
    });
    await begun(2);
    const params = { ...now, task: {} };
    const { task } = await first.client.request({ method: 'tools/call', params }, CreateTaskResultSchema);
    process.kill(first.pid, 'SIGKILL');
    const result = await second.client.experimental.tasks.getTaskResult(task.taskId, CallToolResultSchema);
    expect(result).toMatchObject({ isError: false, _meta: { 'sluice/request_id': task.taskId } });
    expect(await second.client.callTool(now)).toMatchObject({ isError: false });
    writeFileSync(`${gate}.2`, '');
    expect(await held).toMatchObject(done);
  });
});

function isRunning(pid: number | null): boolean {
  if (pid === null) throw new Error('The client started no process.');
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
