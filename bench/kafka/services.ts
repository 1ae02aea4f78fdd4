import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { McpOffer, Model } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { configurationRecord } from '@sluice/run';
import { compileFile, createLog, openRuntime, readEnvironment } from '@sluice/host';
import type { OpenRuntime } from '@sluice/host';
import { builtInTools } from '@sluice/packs';
import { loadToolTypes } from '@sluice/sources';
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

/**
 * Filter, agent and executor on Kafka, each with clients of its own, with a model and a server that are functions;
 * `more` of the configuration if need be.
 */
export async function openServices(parts: Infrastructure, model: Model, act: Act, more = ''): Promise<Services> {
  const prefix = `bench-${Date.now()}-`;
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const file = join(folder, 'sluice.yaml');
  await writeFile(file, configuration + more);
  const compiled = await compileFile(file, {
    types: (folders) => loadToolTypes(folders, builtInTools),
    discover: () => Promise.resolve([offer]),
    cedarProblems: () => [],
  });
  if (compiled.configuration === null) throw new Error(JSON.stringify(compiled.problems));
  const { configuration: applied } = compiled;

  const runtimes: OpenRuntime[] = [];
  const open = async (): Promise<OpenRuntime> => {
    const environment = readEnvironment({ ...variablesOf(parts, prefix), SLUICE_DATA: folder });
    const opened = await openRuntime(environment, createLog('silent'));
    if (runtimes.push(opened) === 1) {
      const { bus, signatures } = opened.runtime;
      const record = await configurationRecord(applied, { source: 'bench', compiledAt: 0 }, signatures);
      await bus.publish([{ topic: topics.config, key: 'config', record }]);
    }
    await opened.runtime.configurations.start();
    return opened;
  };
  const models = { get: () => Promise.resolve(model) };
  const starts = [
    startFilter,
    (runtime: OpenRuntime['runtime']) => startAgent(runtime, models),
    (runtime: OpenRuntime['runtime']) => startExecutor(runtime, serversOf(act), models),
  ];
  for (const start of starts) {
    const opened = await open();
    const service = await start(opened.runtime);
    opened.beforeClose(() => service.close());
  }
  return {
    prefix,
    brokers: parts.brokers,
    runtimes,
    close: async () => {
      await Promise.all(runtimes.map((opened) => opened.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The MCP servers without the protocol, so that what is measured is the loop. */
function serversOf(act: Act): McpServers {
  const servers: Pick<McpServers, 'use' | 'offers' | 'discover' | 'call' | 'status' | 'close'> = {
    use: () => undefined,
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
