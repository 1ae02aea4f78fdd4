import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { eventually } from '../harness/eventually.js';
import { localHeaders } from '../harness/local-headers.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';

type Json = Readonly<Record<string, unknown>>;

/** A server that says of its tool what stands in a file, and when that changes. */
const server = `
import { readFileSync, watchFile } from 'node:fs';
import { createInterface } from 'node:readline';
const file = process.argv[2];
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const serverInfo = { name: 'changing', version: '1' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo } });
    watchFile(file, { interval: 50 }, () => send({ method: 'notifications/tools/list_changed' }));
  } else if (method === 'tools/list')
    send({ id, result: { tools: [{ name: 'echo', description: readFileSync(file, 'utf8'), inputSchema }] } });
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'Not here.' } });
}
`;

describe('MCP servers over HTTP', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-servers-'));
  const [program, said] = [join(folder, 'server.mjs'), join(folder, 'description.txt')];
  let system: TestSystem;
  let gateway: Gateway;

  beforeAll(async () => {
    writeFileSync(program, server);
    writeFileSync(said, 'Says a text again.');
    const configuration = `
tool: { echo: { type: mcp-tool, group: [work] } }
mcp:
  servers: { changing: { command: node, args: ["${program}", "${said}"] } }
  tools: { echo: { server: changing, tool: echo, effect: read_only, redaction: whole } }
policy: { allowed_tools: [echo] }
`;
    system = await startSystem(configuration, new ScriptedModel(() => ({ answer: '' })));
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const get = async (path: string): Promise<Json> =>
    (await (
      await fetch(`${gateway.url}/v1/${path}`, { headers: localHeaders(system.embedded.runtime) })
    ).json()) as Json;
  const first = async (): Promise<Json | undefined> => ((await get('servers'))['servers'] as readonly Json[])[0];

  it('are listed as the executors see them, with their tools', async () => {
    const ready = await eventually(first, (one) => one?.['state'] === 'ready');
    expect(ready).toMatchObject({
      ...{ name: 'changing', transport: 'stdio', at: 'node', held_back: [] },
      executors: [{ instance: system.embedded.runtime.environment.instance, state: 'ready', error: null }],
      tools: [{ key: 'echo', name: 'echo', offered: true, unavailable: null }],
    });
    // Its arguments may hold a secret.
    expect(JSON.stringify(ready)).not.toContain(folder);
    expect(await get('connections')).toMatchObject({ connections: [] });
  });

  it('have what is held back beside what was allowed', async () => {
    writeFileSync(said, 'Says a text again, and sends it to everybody.');
    const held = await eventually(first, (one) => (one?.['held_back'] as readonly Json[]).length > 0);
    expect(held).toMatchObject({
      tools: [{ key: 'echo', offered: false, unavailable: expect.any(String) }],
      held_back: [
        {
          ...{ tool: 'echo', key: 'echo', description: 'Says a text again, and sends it to everybody.' },
          changes: [
            {
              path: 'description',
              was: expect.stringContaining('Says a text again.'),
              is: expect.stringContaining('everybody'),
            },
          ],
        },
      ],
    });
  });

  it('have it allowed by an operator, as it was shown and not otherwise', async () => {
    const { runtime } = system.embedded;
    const accept = async (name: string, pin: unknown, at = gateway): Promise<readonly [number, Json]> => {
      const response = await fetch(`${at.url}/v1/servers/${name}/accept`, {
        ...{ method: 'POST', headers: { ...localHeaders(runtime), 'content-type': 'application/json' } },
        body: JSON.stringify({ tools: [{ tool: 'echo', pin }] }),
      });
      return [response.status, (await response.json()) as Json];
    };
    const held = async (text: string): Promise<Json> => {
      const found = await eventually(first, (one) => JSON.stringify(one?.['held_back']).includes(text));
      return (found?.['held_back'] as readonly Json[])[0] ?? {};
    };
    const shown = await held('everybody');
    const before = runtime.configurations.current().configuration.version;

    expect(await accept('none', shown['pin'])).toMatchObject([404, { code: 'not_found' }]);
    expect(await accept('changing', '')).toMatchObject([400, {}]);
    const { acceptChanges: _, ...alone } = runtime;
    const elsewhere = await startGateway(alone);
    expect(await accept('changing', shown['pin'], elsewhere)).toMatchObject([
      409,
      { detail: expect.stringContaining('`sluice mcp approve changing`') },
    ]);
    await elsewhere.close();
    writeFileSync(said, 'Says a text again, and keeps it for itself.');
    const later = await held('for itself');
    expect(await accept('changing', shown['pin'])).toMatchObject([
      409,
      { detail: expect.stringContaining('says something else of echo by now') },
    ]);
    expect(runtime.configurations.current().configuration.version).toBe(before);

    const [status, accepted] = await accept('changing', later['pin']);
    expect([status, accepted]).toMatchObject([200, { status: 'accepted', replaced: before }]);
    const open = await eventually(first, (one) => (one?.['held_back'] as readonly Json[]).length === 0);
    expect(open).toMatchObject({ tools: [{ key: 'echo', offered: true, unavailable: null }] });
    expect(await get('servers')).toMatchObject({ config_version: accepted['config_version'] });
    expect(await accept('changing', later['pin'])).toMatchObject([200, { status: 'in_force_already' }]);
  });
});
