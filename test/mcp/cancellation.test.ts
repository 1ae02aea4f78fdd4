import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { eventually } from '../harness/eventually.js';
import { newClient, oldClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const slow = (type: string, effect: string): string => `export default ({ defineTool, z }) =>
  defineTool({
    type: '${type}', description: 'Takes a minute.', input: z.object({ n: z.number() }), output: z.string(),
    effect: '${effect}', redaction: { whole: true }, capabilities: [], repeatable: false, requiresConnection: false,
    execute: ({ n }) => new Promise((resolve) => setTimeout(() => resolve('Done.'), n)),
  });\n`;

describe('a call over MCP', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-slow-'));
  let system: McpSystem;
  beforeAll(async () => {
    writeFileSync(join(folder, 'slow_read.mjs'), slow('slow_read', 'read_only'));
    writeFileSync(join(folder, 'slow_write.mjs'), slow('slow_write', 'external_side_effect'));
    system = await startMcpSystem(`
tool_folders: ["${folder}"]
tool:
  slow_read: { type: slow_read, group: [g] }
  slow_write: { type: slow_write, group: [g] }
  slow_move: { type: slow_read, group: [g], state: later }
  slow_later: { type: slow_read, group: [g], available_in_states: [later] }
policy: { allowed_tools: [slow_read, slow_write, slow_move, slow_later], approval: { none: "A test." } }
limits: { tool_seconds: 300, run_seconds: 600 }
`);
  });
  afterAll(async () => {
    await system.close();
    rmSync(folder, { recursive: true });
  });

  const stepOf = (tool: string, place = 0) =>
    eventually(
      async () =>
        (await system.all('agent.steps')).flatMap(({ record }) => record.steps).filter(({ action }) => action === tool)[
          place
        ],
      (step) => step !== undefined,
    );
  const begun = (tool: string) =>
    eventually(
      async () =>
        (await system.all('agent.progress')).filter(
          ({ record }) => record.kind === 'tool_call_start' && record.tool === tool,
        ).length,
      (count) => count > 0,
    );

  it.each([
    ['slow_read', 'cancelled', oldClient],
    ['slow_write', 'outcome_unknown', newClient],
  ] as const)('of %s ends when its client cancels it, and is on the log as %s', async (name, reason, connect) => {
    const client = await connect(system.mcp.url);
    const cancel = new AbortController();
    const options = { signal: cancel.signal };
    const call = { name, arguments: { n: 60_000 }, _meta: { 'sluice/idempotency_key': name } };
    const made =
      'callTool' in client && connect === oldClient
        ? (client as Awaited<ReturnType<typeof oldClient>>).callTool(call, undefined, options)
        : (client as Awaited<ReturnType<typeof newClient>>).callTool(call, options);
    const ended = expect(made).rejects.toThrow();
    await begun(name);
    cancel.abort();
    await ended;
    expect(await stepOf(name)).toMatchObject({ outcome: 'execution', reason });
    // Its claim stays true: the same call again is the one that was cancelled.
    expect(await client.callTool(call)).toMatchObject({
      isError: true,
      _meta: { 'sluice/error': { code: 'execution', reason } },
    });
    await client.close();
  });

  it.each([
    ['2025-11-25', oldClient],
    ['2026-07-28', newClient],
  ] as const)('that hangs holds up no other of its client, in the era of %s (M-20)', async (_, connect) => {
    const client = await connect(system.mcp.url);
    const cancel = new AbortController();
    // Longer than the test waits for any call.
    const hanging = Promise.allSettled(
      [240_001, 240_002, 240_003].map((n) => {
        const call = { name: 'slow_read', arguments: { n } };
        const options = { signal: cancel.signal, timeout: 240_000 };
        return connect === oldClient
          ? (client as Awaited<ReturnType<typeof oldClient>>).callTool(call, undefined, options)
          : (client as Awaited<ReturnType<typeof newClient>>).callTool(call, options);
      }),
    );
    const made = async (name: string, n: number) => (await client.callTool({ name, arguments: { n } })).content;
    const done = [{ type: 'text', text: 'Done.' }];
    expect(await Promise.all([made('slow_read', 3), made('slow_write', 4), made('slow_move', 5)])).toEqual([
      done,
      done,
      done,
    ]);
    if (connect === oldClient) expect(await made('slow_later', 6)).toEqual(done);
    cancel.abort();
    await hanging;
    await client.close();
  });

  it('tells how it goes on under its progress token, and logs as much as the client wants (M-84)', async () => {
    const client = await oldClient(system.mcp.url);
    const logged: string[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.level));
    await client.setLoggingLevel('error');
    await client.callTool({ name: 'slow_read', arguments: { n: 1 } });
    expect(logged).toEqual([]);
    await client.setLoggingLevel('debug');
    const seen: number[] = [];
    // A call that ends at once is heard of by its end alone.
    await client.callTool({ name: 'slow_read', arguments: { n: 500 } }, undefined, {
      onprogress: ({ progress }) => void seen.push(progress),
    });
    expect(seen.length).toBeGreaterThanOrEqual(2);
    expect(seen).toEqual([...seen].sort((one, other) => one - other));
    expect(logged.filter((level) => level === 'debug').length).toBeGreaterThanOrEqual(2);
    await client.close();
  });
});
