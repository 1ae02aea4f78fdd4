import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { command } from '../harness/command.js';
import { anyone, configured } from '../harness/approving.js';
import { eventually } from '../harness/eventually.js';
import { newClient, oldClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const analysis = { name: 'analysis___complex-analysis', arguments: { rows: [{ name: 'a', size: 1 }] } };
const query = { name: 'knowledge-query', arguments: { sparql: 'SELECT * WHERE { ?a ?b ?c } LIMIT 1' } };
const reset = { name: 'analysis___reset-workflow', arguments: {} };
type Answer = { readonly isError?: boolean; readonly content: readonly object[]; readonly _meta?: object };
const metaOf = (answer: unknown): Readonly<Record<string, unknown>> => ({ ...(answer as Answer)._meta });

describe('the walk of docs/mcp.md', () => {
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
