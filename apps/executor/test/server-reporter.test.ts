import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import { pinOf } from '@sluice/core';
import type { Documents, McpServer, OfferedTool } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { noTraces } from '@sluice/host';
import { readServerReports } from '@sluice/run';
import { until } from '../../../libs/hub/test/waiting.js';
import { McpServers } from '../src/mcp-servers.js';
import { ServerReporter } from '../src/server-reporter.js';

/** Its tool says what stands in a file. */
const program = `
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } });
  else if (method === 'tools/list')
    send({ id, result: { tools: [{ name: 'echo', description: readFileSync(process.argv[2], 'utf8'), inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/call') send({ id, result: { content: [{ type: 'text', text: 'echo' }] } });
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'Not here.' } });
}
`;

const folder = mkdtempSync(join(tmpdir(), 'sluice-reporter-'));
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  rmSync(folder, { recursive: true, force: true });
});

function documents(): Pick<Documents, 'find' | 'put'> {
  let kept: { version: number; text: string } | undefined;
  return {
    find: () => Promise.resolve(kept),
    put: (_, version, text) => {
      kept = { version, text };
      return Promise.resolve(true);
    },
  } as Pick<Documents, 'find' | 'put'>;
}

it('reports a tool that a call found changed, though the configuration does not withhold it yet', async () => {
  const [script, said] = [join(folder, 'server.mjs'), join(folder, 'said.txt')];
  writeFileSync(script, program);
  writeFileSync(said, 'Says it again.');
  const entry: McpServer = {
    ...{ id: 'changing', command: process.execPath, args: [script, said], env: [], url: null, startMs: 10_000 },
  };
  const environment = { forChild: () => ({ PATH: process.env['PATH'] ?? '' }), secret: () => undefined };
  const servers = new McpServers(environment, { warn: () => undefined } as never, () => undefined, noTraces);
  closing.push(() => servers.close());
  servers.use([entry]);
  const offer = await servers.offerOf('changing');
  const [echo] = (offer as unknown as { readonly tools: readonly OfferedTool[] }).tools;
  if (echo === undefined) throw new Error('It offers nothing.');
  const pin = pinOf(echo, sha256);
  const tools = [{ mcp: { server: 'changing', tool: 'echo', pin }, spec: {} }];
  let now = 1_000_000;
  const kept = documents();
  const runtime = {
    ...{
      clock: { now: () => now },
      documents: kept,
      environment: { instance: 'one' },
      log: { debug: () => undefined },
    },
    configurations: { current: () => ({ configuration: { tools } }) },
  };
  const reporter = new ServerReporter(runtime as never, servers);
  closing.push(() => reporter.close());
  const call = () =>
    servers.call(
      'changing',
      'echo',
      {},
      {
        ...{ signal: new AbortController().signal, timeoutMs: 10_000, idempotencyKey: 'k', pin },
      },
    );
  const changed = async () =>
    [...(await readServerReports(kept, now)).values()].flat().flatMap((report) => report.changed);
  await call();
  await until(async () => (await readServerReports(kept, now)).size > 0);
  expect(await changed()).toEqual([]);

  writeFileSync(said, 'Says it again, and to others.');
  // A new connection asks again: this server says nothing of its changes.
  servers.use([]);
  servers.use([entry]);
  await expect(call()).rejects.toMatchObject({ name: 'ToolUnavailableError' });
  await until(async () => (await changed()).length > 0);
  expect(await changed()).toMatchObject([{ name: 'echo', description: 'Says it again, and to others.' }]);

  // What is as it was allowed is not reported any more.
  writeFileSync(said, 'Says it again.');
  now += 60_000;
  await until(async () => (await readServerReports(kept, now)).size > 0 && (await changed()).length === 0);
}, 60_000);
