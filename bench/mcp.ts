import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Models } from '@sluice/model';
import { createLog, openRuntime } from '@sluice/host';
import { startAudit } from '../apps/audit/src/audit.module.js';
import { startAgent } from '../apps/agent/src/agent.module.js';
import { startExecutor } from '../apps/executor/src/executor.module.js';
import { McpServers } from '../apps/executor/src/mcp-servers.js';
import { startFilter } from '../apps/filter/src/filter.module.js';
import { startMcp } from '../apps/mcp/src/mcp.module.js';
import { ConfigurationSource } from '../apps/sluice/src/system/configuration-source.js';
import { embeddedIn } from './loop.js';
import { median, quantile, report } from './measure.js';

export const upstream = join(import.meta.dirname, '../bench/mcp-upstream.mjs');
const manyTools = 1_000;
const inFlight = 16;

const configuration = (port: number): string => `
tool:
  ping: { type: mcp-tool, group: [work] }
mcp:
  servers: { upstream: { url: 'http://127.0.0.1:${port}/mcp' } }
  tools: { ping: { server: upstream, tool: ping, effect: read_only, redaction: whole } }
policy: { allowed_tools: [ping] }
limits: { max_iterations: 1000 }
`;

const listed = `
tool:
${Array.from({ length: manyTools }, (_, n) => `  t${n}: { type: get_current_time, description: Tells the time in place ${n}, group: [work] }`).join('\n')}
policy: { allowed_tools: [${Array.from({ length: manyTools }, (_, n) => `t${n}`).join(', ')}] }
`;

/**
 * An MCP client’s calls of an upstream server: direct, and through Sluice on SQLite with and without the audit, side
 * by side.
 */
export async function benchMcp(): Promise<void> {
  const child = spawn(process.execPath, [upstream, String(manyTools)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  const written = configuration(port);
  const direct = await connected(`http://127.0.0.1:${port}/mcp`);
  const directMany = await connected(`http://127.0.0.1:${port}/many`);
  const [without, withAudit, many] = [
    await served(written, { audit: false }),
    await served(written, { audit: true }),
    await served(listed, { audit: false }),
  ];
  try {
    const ways = [
      { client: direct, tool: 'ping' },
      { client: without.client, tool: 'upstream___ping' },
      { client: withAudit.client, tool: 'upstream___ping' },
    ].map((way) => ({ ...way, alone: [] as number[], rates: [] as number[] }));
    for (const way of ways) await together(way, 32);
    // In turn, so that what the machine does besides falls on all alike.
    for (let round = 0; round < 5; round++) {
      for (const way of ways) way.alone.push(...(await oneByOne(way, 20)));
      for (const way of ways) way.rates.push(await together(way, 96));
    }
    const lists = { direct: [] as number[], sluice: [] as number[], bytes: [] as number[] };
    const post = await rawList(many.url);
    for (let n = 0; n < 40; n++) {
      lists.direct.push(await timeOf(() => directMany.listTools()));
      lists.sluice.push(await timeOf(() => many.client.listTools()));
      lists.bytes.push(await timeOf(post));
    }
    const [bare, sluice, audited] = ways.map(({ alone, rates }) => ({ ms: median(alone), rate: median(rates) }));
    if (bare === undefined || sluice === undefined || audited === undefined)
      throw new Error('Three ways are measured.');
    report('MCP: tools/call direct and through Sluice on SQLite, over HTTP', [
      { name: 'a direct call, median', value: bare.ms, unit: 'ms' },
      { name: 'added by Sluice, median', value: sluice.ms - bare.ms, unit: 'ms', goal: { atMost: 1 } },
      { name: 'added with audit records', value: audited.ms - bare.ms, unit: 'ms' },
      { name: `direct calls a second, ${inFlight} in flight`, value: bare.rate, unit: '1/s' },
      { name: 'through Sluice / direct', value: sluice.rate / bare.rate, unit: '', goal: { atLeast: 0.9 } },
      { name: 'with audit records / direct', value: audited.rate / bare.rate, unit: '' },
      { name: 'calls a second through Sluice', value: sluice.rate, unit: '1/s' },
      { name: 'with audit records', value: audited.rate, unit: '1/s' },
      {
        name: `tools/list of ${manyTools} tools, its bytes, median`,
        value: median(lists.bytes),
        unit: 'ms',
        goal: { atMost: 5 },
      },
      { name: 'the same, p95', value: quantile(lists.bytes, 0.95), unit: 'ms' },
      { name: 'the same by the SDK’s client, which parses and checks it', value: median(lists.sluice), unit: 'ms' },
      { name: 'the same, direct, of a server that made its list once', value: median(lists.direct), unit: 'ms' },
      { name: 'through Sluice / direct', value: median(lists.sluice) / median(lists.direct), unit: '' },
    ]);
  } finally {
    await direct.close();
    await directMany.close();
    for (const one of [without, withAudit, many]) await one.close();
    child.kill();
  }
}

interface Way {
  readonly client: Client;
  readonly tool: string;
}

async function call({ client, tool }: Way): Promise<void> {
  const { isError, content } = await client.callTool({ name: tool, arguments: {} });
  if (isError === true) throw new Error(`The call of ${tool} failed: ${JSON.stringify(content)}`);
}

async function oneByOne(way: Way, calls: number): Promise<readonly number[]> {
  const each: number[] = [];
  for (let n = 0; n < calls; n++) each.push(await timeOf(() => call(way)));
  return each;
}

/** Calls a second, so many in flight. */
async function together(way: Way, calls: number): Promise<number> {
  let begun = 0;
  const caller = async (): Promise<void> => {
    while (begun++ < calls) await call(way);
  };
  const ms = await timeOf(() => Promise.all(Array.from({ length: inFlight }, caller)));
  return calls / (ms / 1_000);
}

export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** The request of a list as bytes, sent and read to its end, without a client that does anything with it. */
async function rawList(url: string): Promise<() => Promise<void>> {
  const headers = {
    ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
  };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } });
  const send = async (): Promise<string> => (await fetch(url, { method: 'POST', headers, body })).text();
  const answer = await send();
  if (!answer.includes(`"t${manyTools - 1}"`)) throw new Error(`The list was refused: ${answer.slice(0, 300)}`);
  return async () => void (await send());
}

export async function connected(url: string): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

/** Filter, agent, executor and the MCP server on SQLite in this process, and a client of theirs. */
export async function served(written: string, { audit }: { readonly audit: boolean }) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const file = join(folder, 'sluice.yaml');
  await writeFile(file, written);
  const environment = embeddedIn(folder);
  const log = createLog('warn', process.stderr);
  const open = await openRuntime(environment, log);
  const { runtime } = open;
  const servers = new McpServers(environment, log, () => undefined, runtime.traces);
  const source = new ConfigurationSource(file, servers, runtime);
  await source.start();
  await runtime.configurations.start();
  const models = new Models(() => undefined);
  const services = [
    await startFilter(runtime),
    await startAgent(runtime, models),
    await startExecutor(runtime, servers, models),
    ...(audit ? [await startAudit(runtime)] : []),
  ];
  const mcp = await startMcp(runtime);
  const client = await connected(mcp.url);
  return {
    client,
    url: mcp.url,
    close: async () => {
      await client.close();
      await mcp.close();
      for (const service of services) await service.close();
      await source.close();
      await servers.close();
      await open.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
