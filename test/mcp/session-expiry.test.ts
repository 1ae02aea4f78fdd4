import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import type { McpService } from '../../apps/mcp/src/mcp.module.js';
import { eventually } from '../harness/eventually.js';
import { oldClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const hour = 3_600_000;

describe('a session of the older era that is not used', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-expiry-'));
  let system: McpSystem;
  let mcp: McpService;
  /** How far the clock of the MCP server is ahead. */
  let ahead = 0;
  beforeAll(async () => {
    writeFileSync(
      join(folder, 'slow.mjs'),
      `import { existsSync } from 'node:fs';
      import { join } from 'node:path';
      export default ({ defineTool, z }) => defineTool({
        type: 'slow', description: 'Waits for a file.', input: z.object({}), output: z.string(), effect: 'read_only',
        redaction: { whole: true }, capabilities: [], repeatable: false, requiresConnection: false,
        execute: async () => {
          while (!existsSync(join(import.meta.dirname, 'go.txt'))) await new Promise((go) => setTimeout(go, 50));
          return 'Done.';
        },
      });\n`,
    );
    system = await startMcpSystem(`
tool_folders: ["${folder}"]
tool: { slow: { type: slow, group: [g], timeout_seconds: 3600 } }
policy: { allowed_tools: [slow] }
`);
    const { runtime } = system.embedded;
    mcp = await startMcp({ ...runtime, clock: { ...runtime.clock, now: () => runtime.clock.now() + ahead } });
  });
  afterAll(async () => {
    await mcp.close();
    await system.close();
    rmSync(folder, { recursive: true });
  });

  it('expires a day behind its last request, or behind the end of a call', async () => {
    const client = await oldClient(mcp.url);
    const call = client.callTool({ name: 'slow', arguments: {} }, undefined, { timeout: 200_000 });
    await eventually(
      async () => (await system.all('agent.calls')).length,
      (count) => count > 0,
    );
    ahead = 23 * hour;
    expect((await client.listTools()).tools).toHaveLength(1);
    ahead = 40 * hour;
    writeFileSync(join(folder, 'go.txt'), '');
    expect(await call).toMatchObject({ isError: false, content: [{ type: 'text', text: 'Done.' }] });
    // The end of the call counts as its use.
    const { documents, clock } = system.embedded.runtime;
    await eventually(
      async () => (await documents.tally('mcp/session/', clock.now() + 63 * hour, 0)).count,
      (count) => count === 1,
    );
    ahead = 63 * hour;
    expect((await client.listTools()).tools).toHaveLength(1);
    ahead = 88 * hour;
    await expect(client.listTools()).rejects.toMatchObject({ code: 404 });
    await client.close().catch(() => undefined);
    const anew = await oldClient(mcp.url);
    expect((await anew.listTools()).tools).toHaveLength(1);
    await anew.close();
  });
});
