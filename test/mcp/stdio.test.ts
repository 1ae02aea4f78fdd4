import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Client as NewClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { projectRoot, workflowConfiguration } from '../harness/configurations.js';
import { clientInfo } from './with-mcp.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-stdio-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const config = join(folder, 'sluice.yaml');
writeFileSync(config, workflowConfiguration());

/** The command as a client’s configuration has it, on a data folder where no services run. */
const started = (data: string) => ({
  command: process.execPath,
  args: [join(projectRoot, 'dist/apps/sluice/src/main.js'), 'mcp', 'serve'],
  cwd: projectRoot,
  env: {
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: join(projectRoot, 'node_modules/.cache/compiled'),
    SLUICE_DATA: join(folder, data),
    SLUICE_CONFIG: config,
  },
});
const query = { name: 'knowledge-query', arguments: { sparql: 'SELECT * WHERE { ?a ?b ?c } LIMIT 1' } };
const names = (tools: readonly { readonly name: string }[]): readonly string[] => tools.map(({ name }) => name);

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

function isRunning(pid: number | null): boolean {
  if (pid === null) throw new Error('The client started no process.');
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
