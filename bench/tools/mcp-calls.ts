import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JsonValue } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import { createToolSource } from '@sluice/sources';
import { median, report } from '../measure.js';
import type { Figure } from '../measure.js';
import { invocationOf } from './pipeline.js';
import { configurationFor, timed } from './runner.js';

const script = join(import.meta.dirname, 'echo-server.js');
const args = { text: 'x'.repeat(1_000) };
const rounds = 12;
const inFlight = 16;
/** Many short rounds: what disturbs a shared machine lasts longer than one of them, and so falls on both sides. */
const pairs = 60;
const callsInRound = { http: 100, stdio: 400 };

type Call = () => Promise<unknown>;

/**
 * A call through the executor's source (checked, sent, checked and redacted), beside the same call by the SDK's
 * client: the same server, in turns.
 */
export async function benchMcpCalls(): Promise<void> {
  const server = spawn(process.execPath, [script, '--http'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(server.stdout.setEncoding('utf8'), 'data')) as [string];
    const url = line.trim();
    const http = await compare(
      'Streamable HTTP',
      callsInRound.http,
      { url },
      () => new StreamableHTTPClientTransport(new URL(url)),
    );
    const command = { command: process.execPath, args: [script] };
    const stdio = await compare('stdio', callsInRound.stdio, command, () => new StdioClientTransport(command));
    report('A call to an MCP server through the executor’s source, beside the bare SDK client (1 KB in and out)', [
      ...http,
      ...stdio,
    ]);
  } finally {
    server.kill();
  }
}

async function compare(name: string, calls: number, server: object, transport: () => object): Promise<Figure[]> {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(transport() as Transport);
  const { call: ours, close } = await throughTheSource(server);
  const bare = (): Promise<unknown> => client.callTool({ name: 'echo', arguments: args });
  try {
    // Until both are compiled as they will stay.
    for (let warm = 0; warm < 10; warm++) for (const call of [bare, ours]) await costOf(call, calls);
    const [alone, added]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      const [theirs, own]: [number[], number[]] = [[], []];
      await timed(bare, 150, theirs);
      await timed(ours, 150, own);
      alone.push(median(theirs));
      added.push(median(own) - median(theirs));
    }
    const [speed, work]: [number[], number[]] = [[], []];
    for (let pair = 0; pair < pairs; pair++) {
      // Who goes first takes turns, since the second finds a warmer machine.
      const [first, second] = pair % 2 === 0 ? [bare, ours] : [ours, bare];
      const costs = [await costOf(first, calls), await costOf(second, calls)] as const;
      const [theirs, own] = pair % 2 === 0 ? costs : [costs[1], costs[0]];
      speed.push(theirs.seconds / own.seconds);
      work.push(theirs.processor / own.processor);
    }
    return [
      { name: `${name}: the bare client, median`, value: median(alone) / 1_000, unit: 'ms' },
      {
        name: `${name}: added by the source, median`,
        value: median(added) / 1_000,
        unit: 'ms',
        goal: { atMost: 0.3 },
      },
      {
        name: `${name}: share of its throughput, ${inFlight} in flight`,
        value: median(speed),
        unit: '',
        goal: { atLeast: 0.9 },
      },
      {
        name: `${name}: the same by the client’s processor time`,
        value: median(work),
        unit: '',
        goal: { atLeast: 0.9 },
      },
    ];
  } finally {
    await client.close();
    await close();
  }
}

/** Seconds of a round, and of the processor in this process, garbage included: the server's are not in them. */
async function costOf(call: Call, calls: number): Promise<{ seconds: number; processor: number }> {
  let left = calls;
  const [begin, usage] = [performance.now(), process.cpuUsage()];
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) await call();
    }),
  );
  const { user, system } = process.cpuUsage(usage);
  return { seconds: (performance.now() - begin) / 1_000, processor: (user + system) / 1e6 };
}

async function throughTheSource(server: object): Promise<{ call: Call; close: () => Promise<void> }> {
  const file = {
    tool: { echo: { type: 'mcp-tool' } },
    policy: { allowed_tools: ['echo'] },
    mcp: {
      servers: { echo: server },
      tools: { echo: { server: 'echo', tool: 'echo', effect: 'read_only', redaction: 'whole' } },
    },
  };
  const environment = (): Record<string, string> => ({ PATH: process.env['PATH'] ?? '' });
  const hub = createMcpHub(configurationFor(file, []).mcpServers, { environment, onChange: () => undefined });
  const configuration = configurationFor(file, [], await hub.discover());
  const tool = createToolSource(configuration, { contracts: [], mcp: hub }).getBoundTool('mcp__echo__echo');
  if (tool === undefined) throw new Error('The tool is not bound.');
  const call = async (): Promise<JsonValue> => {
    const { context, signal, callKey: key } = invocationOf(tool.id, args);
    const given = await tool.validateInput(args);
    const raw = await tool.exec(given, context, { cancellation: { signal }, idempotency: { key } });
    return tool.redact(tool.validateOutput(raw));
  };
  return { call, close: () => hub.close() };
}
