import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { command } from '../harness/command.js';
import { anyone, configured } from '../harness/approving.js';
import { projectRoot } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { commandsOf, installedInspector, sdkInspector, walk } from './page-walk.js';
import { newClient, oldClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const analysis = { name: 'analysis___complex-analysis', arguments: { rows: [{ name: 'a', size: 1 }] } };
const query = { name: 'knowledge-query', arguments: { sparql: 'SELECT * WHERE { ?a ?b ?c } LIMIT 1' } };
const reset = { name: 'analysis___reset-workflow', arguments: {} };
type Answer = { readonly isError?: boolean; readonly content: readonly object[]; readonly _meta?: object };
const metaOf = (answer: unknown): Readonly<Record<string, unknown>> => ({ ...(answer as Answer)._meta });

describe('what the page says of a client that keeps its session', () => {
  let system: McpSystem;
  let data: Record<string, string>;
  beforeAll(async () => {
    system = await startMcpSystem(configured(anyone));
    data = { SLUICE_DATA: system.folder, PATH: process.env['PATH'] ?? '' };
  });
  afterAll(() => system.close());

  it('lists, calls, is refused, approves and sees the audit, with the SDK’s client of 1.x (M-01)', async () => {
    const client = await oldClient(system.mcp.url);
    const names = async (): Promise<readonly string[]> => (await client.listTools()).tools.map(({ name }) => name);
    expect(await names()).toEqual([query.name, 'text-completion']);
    const refused = await client.callTool(analysis);
    expect(refused).toMatchObject({ isError: true, _meta: { 'sluice/error': { category: 'permission' } } });
    expect(JSON.stringify(refused.content)).toContain('Access denied');
    expect(await client.callTool(query)).toMatchObject({ isError: false });
    expect(await names()).toContain(reset.name);

    const waits = await client.callTool(reset);
    const { approval_id: id } = metaOf(waits)['sluice/approval'] as { approval_id: string };
    expect((await command(['approvals', 'list'], data)).output).toContain(id);
    expect(await command(['approvals', 'approve', id], data)).toMatchObject({ code: 0 });
    const made = await eventually(
      () => client.callTool(reset),
      ({ isError }) => isError !== true,
    );
    expect(metaOf(made)['sluice/request_id']).toBe(metaOf(waits)['sluice/request_id']);
    const steps = await system.all('agent.steps');
    const session = steps.find(({ record }) => record.requestId === metaOf(made)['sluice/request_id'])?.record
      .sessionId;
    const told = await eventually(
      async () => (await command(['audit', 'show', session ?? ''], data)).output,
      (text) => text.includes('reset-workflow') && text.includes('approve'),
    );
    expect(told).toContain('complex-analysis');
    expect(told).toContain('knowledge-query');
    await client.close();
  });

  it('lists and calls with the SDK’s client of 2.x, in the era without sessions (M-01)', async () => {
    const client = await newClient(system.mcp.url);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain(query.name);
    expect(await client.callTool(query)).toMatchObject({ isError: false });
    expect(await client.callTool(analysis)).toMatchObject({ isError: true });
    await client.close();
  });
});

/** Where the inspector is installed; without it, the SDK’s client alone walks. */
const installed = process.env['SLUICE_MCP_INSPECTOR'];
const inspectors = [
  ['the SDK’s client', sdkInspector] as const,
  ...(installed === undefined ? [] : [['the inspector', installedInspector(installed)] as const]),
];

describe.each(inspectors)('the walk of docs/mcp.md, word for word, with %s', (_, inspector) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-walk-'));
  const sample = join(projectRoot, 'examples/countries/sluice.yaml');
  const servers = join(folder, 'servers.yaml');
  let system: McpSystem;
  beforeAll(async () => {
    // The sample servers, with a folder of the test’s own in the place of the one in the repository.
    mkdirSync(join(folder, 'files'));
    const example = readFileSync(join(projectRoot, 'examples/mcp/sluice.yaml'), 'utf8');
    writeFileSync(servers, example.replaceAll('examples/mcp/files', join(folder, 'files')));
    system = await startMcpSystem(readFileSync(sample, 'utf8'));
  });
  afterAll(async () => {
    await system.close();
    rmSync(folder, { recursive: true });
  });

  it('lists, calls, is refused, approves and sees the audit (M-01, M-03)', async () => {
    const lines = commandsOf('A walk without a client of yours');
    const approve = lines.findIndex((line) => line.includes('approvals approve'));
    const variables = { SLUICE_DATA: system.folder, PATH: process.env['PATH'] ?? '' };
    const walker = {
      ...{ url: system.mcp.url, inspector, variables },
      settle: async (output: string): Promise<void> => {
        const [, version] = /(c-[0-9a-f]+) is in force/.exec(output) ?? [];
        const now = (): string => system.embedded.runtime.configurations.current().configuration.version;
        if (version !== undefined) await eventually(now, (current) => current === version);
      },
      placeholders: (output: string): Record<string, string> => {
        const [id] = /\ba-[0-9a-f]{4,}/.exec(output) ?? [];
        const session = [...output.matchAll(/\bsession (mcp-[0-9a-f-]+)/g)].at(-1)?.[1];
        return {
          'examples/mcp/sluice.yaml': servers,
          ...(id === undefined ? {} : { 'a-3f9c': id.slice(0, 8) }),
          ...(session === undefined ? {} : { SESSION: session }),
        };
      },
    };
    const before = await walk(lines.slice(0, approve + 1), walker);
    const said = (part: string, all = before): string =>
      [...all].find(([line]) => line.includes(part))?.[1] ?? `There is no command ${part}.`;
    expect(said('tools/list')).toContain('"knowledge-query"');
    expect(said('tools/list')).not.toContain('reset-workflow');
    expect(said('--tool-name knowledge-query')).toContain('Bern');
    expect(said('curl')).toContain('Access denied');
    expect(said('--tool-name system___write_file')).toContain('waits for an approval');
    expect(said('approvals list')).toContain('note.txt');
    const note = join(folder, 'files/note.txt');
    const written = (): string => (existsSync(note) ? readFileSync(note, 'utf8') : '');
    expect(await eventually(written, (text) => text !== '')).toBe('Hello');
    const after = await eventually(
      () => walk(lines.slice(approve + 1), walker),
      (printed) => said('audit show', printed).includes('ok after'),
    );
    expect(said('audit show', after)).toContain('approve');
    expect(said('audit show', after)).toContain('note.txt');
    expect(said('sluice runs', after)).toContain('session mcp-');
  });
});
