import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { McpOffer, Model } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { compileFile, createLog, openRuntime, readEnvironment } from '@sluice/service';
import type { OpenRuntime } from '@sluice/service';
import { builtInTools, loadToolTypes } from '@sluice/tools';
import { newKeySet, writeKeySet } from '@sluice/identity';
import { startAgent } from '../../apps/agent/src/agent.module.js';
import { startExecutor } from '../../apps/executor/src/executor.module.js';
import type { McpServers } from '../../apps/executor/src/mcp-servers.js';
import { startFilter } from '../../apps/filter/src/filter.module.js';
import { partitions } from './echo.js';
import type { Infrastructure } from './infrastructure.js';

/** A call of the only server's only tool: it gets the arguments and answers in its own time. */
export type Act = (args: Readonly<Record<string, unknown>>) => Promise<void>;

const configuration = `
tool:
  now: { type: get_current_time, description: Tells the time, group: [work] }
  act: { type: mcp-tool, description: Does something, group: [work] }
policy: { allowed_tools: [now, act] }
limits: { max_iterations: 1000, run_seconds: 3600 }
mcp:
  servers: { bench: { command: bench } }
  tools: { act: { server: bench, tool: act, effect: external_side_effect, redaction: whole } }
`;

const offer: McpOffer = {
  server: 'bench',
  tools: [
    { name: 'act', description: 'Does something', inputSchema: { type: 'object', properties: {} }, outputSchema: null },
  ],
};

export interface Services {
  readonly prefix: string;
  readonly brokers: readonly string[];
  /** Of each service, in the order filter, agent, executor. */
  readonly runtimes: readonly OpenRuntime[];
  close(): Promise<void>;
}

/** All processes of a measurement share them. */
const keys = writeKeySet(newKeySet(Date.now()));

/** The variables of a process on the given infrastructure. */
export function variablesOf(parts: Infrastructure, prefix: string): Record<string, string> {
  return {
    SLUICE_BUS: 'kafka',
    KAFKA_BROKERS: parts.brokers.join(','),
    SCHEMA_REGISTRY_URL: parts.registryUrl,
    DATABASE_URL: parts.databaseUrl,
    SLUICE_PREFIX: prefix,
    SLUICE_PARTITIONS: String(partitions),
    SLUICE_KEYS: keys,
    SLUICE_PORT: '0',
    SLUICE_DRAIN_SECONDS: '1',
  };
}

/** A prefix of its own with the configuration on it, and a runtime that follows it. */
interface Prepared {
  readonly prefix: string;
  /** Of a process that belongs to it. */
  readonly variables: Readonly<Record<string, string>>;
  readonly first: OpenRuntime;
  clear(): Promise<void>;
}

async function prepare(parts: Infrastructure): Promise<Prepared> {
  const prefix = `bench-${Date.now()}-`;
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const file = join(folder, 'sluice.yaml');
  await writeFile(file, configuration);
  const compiled = await compileFile(file, {
    types: (folders) => loadToolTypes(folders, builtInTools),
    discover: () => Promise.resolve([offer]),
    cedarProblems: () => [],
  });
  if (compiled.configuration === null) throw new Error(JSON.stringify(compiled.problems));
  const { version } = compiled.configuration;
  const record = { version, configuration: JSON.stringify(compiled.configuration), source: 'bench', compiledAt: 0 };
  const variables = { ...variablesOf(parts, prefix), SLUICE_DATA: folder };
  const first = await openRuntime(readEnvironment(variables), createLog('silent'));
  await first.runtime.bus.publish([{ topic: topics.config, key: 'config', record }]);
  await first.runtime.configurations.start();
  return { prefix, variables, first, clear: () => rm(folder, { recursive: true, force: true }) };
}

/** Filter, agent and executor on Kafka, each with clients of its own, with a model and a server that are functions. */
export async function openServices(parts: Infrastructure, model: Model, act: Act): Promise<Services> {
  const { prefix, variables, first, clear } = await prepare(parts);
  const runtimes: OpenRuntime[] = [first];
  const models = { get: () => Promise.resolve(model) };
  const starts = [
    startFilter,
    (runtime: OpenRuntime['runtime']) => startAgent(runtime, models),
    (runtime: OpenRuntime['runtime']) => startExecutor(runtime, serversOf(act), models),
  ];
  for (const [place, start] of starts.entries()) {
    const opened = place === 0 ? first : await openRuntime(readEnvironment(variables), createLog('silent'));
    if (place > 0) {
      runtimes.push(opened);
      await opened.runtime.configurations.start();
    }
    const service = await start(opened.runtime);
    opened.beforeClose(() => service.close());
  }
  return {
    prefix,
    brokers: parts.brokers,
    runtimes,
    close: async () => {
      await Promise.all(runtimes.map((opened) => opened.close()));
      await clear();
    },
  };
}

/** The same, each in a process of its own, as they run; the model calls the tool again and again. */
export async function forkServices(
  parts: Infrastructure,
  tool: string,
): Promise<Omit<Services, 'runtimes'> & { readonly runtime: OpenRuntime['runtime'] }> {
  const { prefix, variables, first, clear } = await prepare(parts);
  const program = join(import.meta.dirname, 'service-process.js');
  const env = { ...process.env, ...variables };
  const children = ['filter', 'agent', 'executor'].map((role) => fork(program, [role, tool], { env }));
  const close = async (): Promise<void> => {
    const gone = children.filter(({ exitCode }) => exitCode === null).map((child) => once(child, 'exit'));
    for (const child of children) if (child.connected) child.disconnect();
    await Promise.all(gone);
    await first.close();
    await clear();
  };
  try {
    await Promise.all(children.map((child) => Promise.race([once(child, 'message'), ended(child)])));
  } catch (error) {
    await close();
    throw error;
  }
  return { prefix, brokers: parts.brokers, runtime: first.runtime, close };
}

async function ended(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit');
  throw new Error(`A service of the benchmark ended with ${String(code)} before it served.`);
}

/** The MCP servers without the protocol, so that what is measured is the loop. */
export function serversOf(act: Act): McpServers {
  const servers: Pick<McpServers, 'use' | 'offers' | 'discover' | 'call' | 'status' | 'close'> = {
    use: () => Promise.resolve(),
    offers: () => Promise.resolve([offer]),
    discover: () => Promise.resolve([offer]),
    call: async (_server, _tool, args) => {
      await act(args);
      return 'done';
    },
    status: () => [],
    close: () => Promise.resolve(),
  };
  return servers as McpServers;
}
