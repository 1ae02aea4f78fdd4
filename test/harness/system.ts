import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Model, ModelRequest, ModelTurn } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AgentRequest, AgentResponse, Topic } from '@sluice/contracts';
import type { Incoming, SqliteBus } from '@sluice/bus';
import { startEmbedded } from '../../apps/sluice/src/system/embedded.js';
import { readEnvironment } from '@sluice/host';
import type { Environment, OpenRuntime } from '@sluice/host';
import { newRequest } from '../../apps/sluice/src/run-request.js';

/** What a scripted model says in a turn: calls by id, or an answer. */
export type Said =
  | { readonly calls: readonly (readonly [tool: string, args: string])[]; readonly thought?: string }
  | ({ readonly answer: string } & Pick<ModelTurn, 'incomplete'>);

/**
 * A model that follows a script and keeps what it was asked; a script is a function of the request, so runs may go
 * side by side.
 */
export class ScriptedModel implements Model {
  readonly name = 'scripted';
  readonly asked: ModelRequest[] = [];

  constructor(public script: (request: ModelRequest, signal?: AbortSignal) => Said | Promise<Said>) {}

  async turn(request: ModelRequest, options?: { readonly signal: AbortSignal }): Promise<ModelTurn> {
    this.asked.push(request);
    const said = await this.script(request, options?.signal);
    const usage = { inputTokens: 1, outputTokens: 1 };
    if ('answer' in said) return { thought: '', calls: [], ...said, ...usage };
    const calls = said.calls.map(([tool, args], index) => ({
      toolCallId: `call-${request.history.length + index}`,
      tool,
      arguments: args,
    }));
    return { thought: said.thought ?? '', calls, answer: null, ...usage };
  }
}

/** Turns in order, whatever the question; beyond the last one it answers "done". */
export function inOrder(...turns: readonly Said[]): (request: ModelRequest) => Said {
  return ({ history }) => {
    const turn = new Set(history.map((step) => step.iteration)).size;
    return turns[turn] ?? { answer: 'done' };
  };
}

export interface TestSystem {
  readonly embedded: OpenRuntime;
  readonly bus: SqliteBus;
  readonly configFile: string;
  readonly folder: string;
  /** Publishes the request and waits for its end. */
  ask(request: Partial<AgentRequest>): Promise<AgentResponse>;
  /** Waits for the end of the run. */
  responseOf(requestId: string): Promise<AgentResponse>;
  /** Everything on the topics so far, in the order of the log. */
  all<T extends Topic>(...wanted: T[]): Promise<Incoming<T>[]>;
  /** The lines of the log so far, parsed. */
  lines(): Promise<Record<string, unknown>[]>;
  metric(name: string, labels?: Record<string, string>): Promise<number>;
  /** Stops and starts again on the same data. */
  restart(): Promise<TestSystem>;
  close(): Promise<void>;
}

let count = 0;

/** All services in this process, on a folder of their own, with the given configuration (YAML) and model. */
export async function startSystem(
  configuration: string,
  model: Model,
  folder?: string,
  more: Partial<Environment> = {},
): Promise<TestSystem> {
  const home = folder ?? (await mkdtemp(join(tmpdir(), 'sluice-test-')));
  const configFile = join(home, 'sluice.yaml');
  if (folder === undefined) await writeFile(configFile, configuration);
  const environment = {
    bus: 'sqlite' as const,
    kafka: null,
    retention: readEnvironment({}).retention,
    http: readEnvironment({}).http,
    databaseUrl: null,
    claimDatabases: [],
    dataFolder: home,
    workspaceFolder: join(home, 'workspaces'),
    sessionsKeptMs: null,
    keyFile: null,
    configFile,
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
    drainMs: 2_000,
    instance: `test-${process.pid}-${count++}`,
    secret: () => undefined,
    forChild: () => ({ PATH: process.env['PATH'] ?? '' }),
    ...more,
  };
  const embedded = await startEmbedded({ environment, configFile, models: { get: () => Promise.resolve(model) } });
  const bus = embedded.runtime.bus as SqliteBus;

  const responseOf = async (requestId: string): Promise<AgentResponse> => {
    for await (const { record } of bus.read([topics.responses], {
      from: 'start',
      follow: true,
      signal: AbortSignal.timeout(120_000),
    })) {
      if (record.requestId === requestId) return record;
    }
    throw new Error(`The run ${requestId} did not end within 2 minutes.`);
  };

  return {
    embedded,
    bus,
    configFile,
    folder: home,
    responseOf,
    ask: async (request) => {
      const requestId = request.requestId ?? `request-${process.pid}-${count++}`;
      const record = {
        ...newRequest('Go', { requestId, sessionId: request.sessionId ?? requestId }),
        ...request,
        requestId,
      };
      await bus.publish([{ topic: topics.requests, key: record.sessionId ?? requestId, record }]);
      return responseOf(requestId);
    },
    all: async (...wanted) => {
      const found = [];
      for await (const message of bus.read(wanted, { from: 'start', onUndecodable: () => undefined }))
        found.push(message);
      return found;
    },
    lines: async () =>
      (await readFile(join(home, 'sluice.log'), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    metric: async (name, labels = {}) => {
      const metrics = await embedded.runtime.metrics.registry.getMetricsAsJSON();
      const values = (metrics.find(
        (metric) => metric.name === name.replace(/_(sum|count)$/, '') || metric.name === name,
      )?.values ?? []) as {
        value: number;
        labels: Record<string, string>;
        metricName?: string;
      }[];
      return values
        .filter(
          (value) =>
            (value.metricName ?? name) === name &&
            Object.entries(labels).every(([label, wanted]) => value.labels[label] === wanted),
        )
        .reduce((sum, { value }) => sum + value, 0);
    },
    restart: async () => {
      await embedded.close();
      return startSystem(configuration, model, home, more);
    },
    close: async () => {
      await embedded.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
