import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { openCluster } from '../../cluster/cluster.js';
import type { Cluster } from '../../cluster/cluster.js';
import { eventually } from '../../harness/eventually.js';
import type { Program } from '../../harness/program.js';
import { startTimeout } from '../../infra/client.ts';
import { roundRobin } from '../../mcp/round-robin.js';
import type { RoundRobin } from '../../mcp/round-robin.js';
import { clientInfo } from '../../mcp/with-mcp.js';
import { progressServer } from './progress-server.js';
import type { ProgressServer } from './progress-server.js';

const steps = 20;

describe('two MCP servers of Sluice on Kafka and PostgreSQL, behind a balancer without sticky sessions', () => {
  let server: ProgressServer;
  let cluster: Cluster;
  let doors: Program[];
  let proxy: RoundRobin;

  beforeAll(async () => {
    server = await progressServer(steps, 300);
    cluster = await openCluster(`
tool: { work: { type: mcp-tool, group: [work] } }
mcp:
  servers: { progress: { url: "${server.url}" } }
  tools: { work: { server: progress, tool: work, effect: external_side_effect, redaction: whole } }
policy: { allowed_tools: [work], approval: { none: "A test." } }
limits: { tool_seconds: 120 }
`);
    await Promise.all((['filter', 'agent', 'executor'] as const).map((role) => cluster.start(role)));
    doors = await Promise.all([cluster.start('mcp'), cluster.start('mcp')]);
    proxy = await roundRobin(doors.map(urlOf));
  }, startTimeout);
  afterAll(async () => {
    await proxy?.close();
    await cluster?.close();
    await server?.close();
  }, 60_000);

  async function connected(): Promise<Client> {
    const client = new Client(clientInfo);
    await client.connect(new StreamableHTTPClientTransport(new URL(proxy.url)) as Transport);
    return client;
  }
  const made = (client: Client, on: string, onprogress: (progress: number) => void = () => undefined) =>
    client.callTool({ name: 'progress___work', arguments: { on } }, undefined, {
      onprogress: ({ progress }) => onprogress(progress),
      timeout: 100_000,
    });
  const done = (on: string): object => ({ isError: false, content: [{ type: 'text', text: `Done: ${on}` }] });

  it('serve each session both, and one that is killed in the middle of calls loses none of them', async () => {
    const clients = await Promise.all(Array.from({ length: 10 }, connected));
    // All of them with the one that is killed, and their progress.
    proxy.only = 0;
    const progress = clients.map((): number[] => []);
    const calls = clients.map((client, n) => made(client, `on-${n}`, (at) => void progress[n]?.push(at)));
    await eventually(
      () => progress.every((seen) => seen.length >= 2),
      (all) => all,
    );
    const before = progress.map((seen) => seen.length);
    proxy.only = 1;
    doors[0]?.process.kill('SIGKILL');
    const results = await Promise.all(calls);
    results.forEach((result, n) => expect(result).toMatchObject(done(`on-${n}`)));
    expect([...server.made.values()]).toEqual(clients.map(() => 1));
    progress.forEach((seen, n) => {
      expect(seen).toEqual([...new Set(seen)].sort((one, other) => one - other));
      // It went on behind the kill.
      expect(seen.length).toBeGreaterThan(before[n] ?? 0);
      expect(seen.at(-1)).toBe(steps);
    });
    // Each goes on in its session.
    for (const client of clients) expect((await client.listTools()).tools).toHaveLength(1);
    await Promise.all(clients.map((client) => client.close()));
  }, 180_000);

  it('stop one after the other, as a rolling update has it: no call is lost', async () => {
    proxy.only = 1;
    const client = await connected();
    const call = made(client, 'rolling');
    await eventually(
      () => server.made.get('rolling'),
      (count) => count === 1,
    );
    const next = await cluster.start('mcp');
    // The balancer’s address stays; what is behind it changes.
    proxy.replace(0, urlOf(next));
    proxy.only = 0;
    doors[1]?.process.kill('SIGTERM');
    expect(await call).toMatchObject(done('rolling'));
    expect(server.made.get('rolling')).toBe(1);
    expect((await client.listTools()).tools).toHaveLength(1);
    await client.close();
  }, 180_000);
});

function urlOf(program: Program): string {
  const [, url = ''] = /"url":"(http:[^"]+\/mcp)"/.exec(program.said()) ?? [];
  return url;
}
