import { createHash } from 'node:crypto';
import { applyTo } from './applied.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compileConfiguration, formatProblems } from '@sluice/configuration';
import type { Configuration, McpOffer, Model, ToolSource } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AgentRequest, AgentResponse, Topic } from '@sluice/contracts';
import type { Incoming, SqliteBus } from '@sluice/bus';
import { createLog, openRuntime, readEnvironment, startService } from '@sluice/host';
import type { OpenRuntime, Runtime } from '@sluice/host';
import { createToolSource } from '@sluice/sources';
import { toolTypes } from '@sluice/tools';
import type { McpHub } from '@sluice/hub';
import type { ToolContract } from '@sluice/tools';
import { startAgent } from '../../apps/agent/src/agent.module.js';
import { ExecutorModule } from '../../apps/executor/src/executor.module.js';
import { Toolbox } from '../../apps/executor/src/toolbox.js';
import { startFilter } from '../../apps/filter/src/filter.module.js';
import { newRequest } from '../../apps/sluice/src/run-request.js';

export interface ToolSystem {
  readonly open: OpenRuntime;
  readonly toolbox: Toolbox;
  ask(requestId: string, request?: Partial<AgentRequest>): Promise<AgentResponse>;
  /** Puts another configuration in force. */
  apply(configuration: object): Promise<void>;
  /** Everything it keeps is in there. */
  readonly folder: string;
  all<T extends Topic>(...wanted: T[]): Promise<Incoming<T>[]>;
  /** The lines of the log so far, as text. */
  lines(): string;
  close(): Promise<void>;
}

export interface ToolSystemParts {
  readonly contracts: readonly ToolContract[];
  readonly hub: McpHub;
  readonly offers?: readonly McpOffer[];
  readonly model: Model;
  /** What the variables with secrets hold. */
  secret?(variable: string): string | undefined;
}

/**
 * Filter, agent and executor on a log of their own, with tools of the test’s choice: everything else is what runs in
 * a service.
 */
export async function startWithTools(configuration: object, parts: ToolSystemParts): Promise<ToolSystem> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-tools-'));
  let lines = '';
  const open = await openRuntime(
    { ...environmentIn(folder), secret: (variable) => parts.secret?.(variable) },
    createLog('info', { write: (line) => void (lines += line) }),
  );
  const { runtime } = open;
  const models = { get: () => Promise.resolve(parts.model) };
  await applyTo(runtime, compiled(configuration, parts));
  await runtime.configurations.start();
  const toolbox = new ToolboxOf(parts, runtime, models);
  const services = [
    await startFilter(runtime),
    await startAgent(runtime, models),
    await startService('executor', ExecutorModule.with(runtime, toolbox), runtime),
  ];
  const bus = runtime.bus as SqliteBus;
  return {
    open,
    folder,
    toolbox,
    lines: () => lines,
    apply: async (changed) => {
      const next = compiled(changed, parts);
      await applyTo(runtime, next);
      while (runtime.configurations.current().configuration.version !== next.version) await sleep(10);
    },
    ask: async (requestId, request = {}) => {
      const record = { ...newRequest('Go', { requestId, sessionId: requestId }), ...request };
      await bus.publish([{ topic: topics.requests, key: requestId, record }]);
      const signal = AbortSignal.timeout(120_000);
      for await (const message of bus.read([topics.responses], { from: 'start', follow: true, signal }))
        if (message.record.requestId === requestId) return message.record;
      throw new Error(`The run ${requestId} did not end within 2 minutes.`);
    },
    all: async (...wanted) => {
      const found = [];
      for await (const message of bus.read(wanted, { from: 'start', onUndecodable: () => undefined }))
        found.push(message);
      return found;
    },
    close: async () => {
      for (const service of services) await service.close();
      await toolbox.close();
      await open.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The executor’s own toolbox, but for which tools there are. */
class ToolboxOf extends Toolbox {
  private readonly made = new WeakMap<Configuration, ToolSource>();

  constructor(
    private readonly parts: ToolSystemParts,
    ...rest: [runtime: Runtime, models: ConstructorParameters<typeof Toolbox>[2]]
  ) {
    super(rest[0], parts.hub, rest[1]);
  }

  override async source(configuration: Configuration): Promise<ToolSource> {
    let source = this.made.get(configuration);
    if (source === undefined) {
      source = createToolSource(configuration, { contracts: this.parts.contracts, mcp: this.parts.hub });
      this.made.set(configuration, source);
    }
    return source;
  }
}

export function compiled(
  file: object,
  { contracts, offers = [] }: Pick<ToolSystemParts, 'contracts' | 'offers'>,
): Configuration {
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
  const { configuration, problems } = compileConfiguration(file, {
    types: toolTypes(contracts),
    offers,
    digest,
    files: { read: () => ({ error: 'There are no files here.' }), cedarProblems: () => [] },
  });
  if (configuration === null) throw new Error(formatProblems(problems));
  return configuration;
}

export function environmentIn(dataFolder: string): Parameters<typeof openRuntime>[0] {
  return {
    bus: 'sqlite',
    kafka: null,
    retention: readEnvironment({}).retention,
    http: readEnvironment({}).http,
    databaseUrl: null,
    claimDatabases: [],
    dataFolder,
    workspaceFolder: join(dataFolder, 'workspaces'),
    sessionsKeptMs: null,
    keyFile: null,
    configFile: null,
    host: '127.0.0.1',
    port: 0,
    httpPort: 0,
    httpRequestsPerMinute: 0,
    httpOrigins: [],
    proxyPort: 0,
    mcpPort: 0,
    publishedOnLoopback: false,
    allowedHosts: [],
    mcpCallsPerMinute: 0,
    logLevel: 'info',
    drainMs: 500,
    instance: `tools-${process.pid}`,
    secret: () => undefined,
    forChild: () => ({ PATH: process.env['PATH'] ?? '' }),
  };
}
