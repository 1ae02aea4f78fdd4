import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { Models } from '@sluice/model';
import type { ModelSource } from '@sluice/model';
import { AUTHENTICATOR, authenticatorOf, neededServers, requireSigner, RUNTIME, startService } from '@sluice/host';
import type { Log, Runtime, Service, Metrics } from '@sluice/host';
import type { Incoming } from '@sluice/bus';
import { isAgentRunId } from '@sluice/run';
import { listChangedRecord, resourceUpdatedRecord, serversKey, topics } from '@sluice/contracts';
import type { AgentProgress } from '@sluice/contracts';
import type { Configuration, PassedOnList } from '@sluice/core';
import type { McpServerStatus } from '@sluice/hub';
import { ReturnsService } from './agents/returns.service.js';
import { ApprovalsService } from './approvals/approvals.service.js';
import { ExpirySweep } from './approvals/expiry-sweep.js';
import { ContentSweep } from './content-sweep.js';
import { ExecutorController } from './executor.controller.js';
import { CallsService } from './calls.service.js';
import { ExecutorService } from './executor.service.js';
import { McpServers } from './mcp-servers.js';
import { ServerReporter } from './server-reporter.js';
import { countFromZero } from './step-metrics.js';
import { Toolbox } from './toolbox.js';
import { WatchedResources } from './watched-resources.js';
import { forgetWorkspaces } from './workspaces.js';

@Module({})
export class ExecutorModule {
  static with(runtime: Runtime, toolbox: Toolbox): DynamicModule {
    return {
      module: ExecutorModule,
      controllers: [ExecutorController],
      providers: [
        { provide: RUNTIME, useValue: runtime },
        { provide: Toolbox, useValue: toolbox },
        { provide: AUTHENTICATOR, useValue: authenticatorOf(runtime) },
        ExecutorService,
        CallsService,
        ApprovalsService,
        ReturnsService,
      ],
    };
  }
}

/** Starts the executor: agent.tool-calls in, agent.steps out. The MCP servers follow the configuration in force. */
export async function startExecutor(runtime: Runtime, servers: McpServers, models: ModelSource): Promise<Service> {
  requireSigner('executor', runtime);
  // Keys of a former version have none for calls, and requests take the way of every other then.
  if (runtime.signatures.since('call') !== Infinity) requireSigner('call', runtime);
  const toolbox = new Toolbox(runtime, servers, models);
  let atStart: Promise<void> | undefined;
  const { metrics } = runtime;
  runtime.configurations.onChange((loaded) => {
    countFromZero(loaded, metrics);
    showServerTools(loaded.configuration, metrics);
  });
  showServerStates(() => servers.status(), metrics);
  servers.onCall = (server, isOk, took) =>
    metrics.mcpServerCalls.observe({ server, outcome: isOk ? 'ok' : 'failed' }, took);
  servers.onQuestion = (server, kind, outcome) => metrics.mcpQuestions.inc({ server, kind, outcome });
  servers.onListChanged = (server, list) => void tellOfList(server, list, runtime);
  servers.onResourceUpdated = (server, uri) => {
    metrics.mcpNotices.inc({ server, kind: 'updated', outcome: 'relayed' });
    void tellOfResource(server, uri, toolbox, runtime);
  };
  runtime.configurations.onChange(({ configuration }) => {
    const prepared = toolbox.prepare(configuration);
    atStart ??= prepared;
    prepared.catch((error: unknown) => {
      if (prepared !== atStart) runtime.log.error((error as Error).message);
    });
    servers.use(neededServers(configuration));
  });
  // What is in force at the start can refuse it; what comes later only loses the tools that it cannot have.
  await (atStart ??= Promise.resolve());
  const service = await startService('executor', ExecutorModule.with(runtime, toolbox), runtime, {
    concerns: isAwaited,
  });
  sayWhoDecides(runtime);
  const sweep = new ExpirySweep(runtime);
  const contentSweep = new ContentSweep(runtime);
  const reporter = new ServerReporter(runtime, servers);
  const watched = new WatchedResources(runtime, servers);
  const stopForgetting = forgetWorkspaces(runtime);
  return {
    close: async () => {
      watched.close();
      await reporter.close();
      await sweep.close();
      await contentSweep.close();
      await stopForgetting();
      await service.close();
      await toolbox.close();
    },
  };
}

/**
 * A list of a server is another one: doors tell clients, where an entry passes anything of it on. Best effort, as all
 * of that topic is.
 */
async function tellOfList(server: string, list: PassedOnList, runtime: Runtime): Promise<void> {
  const kind = list === 'resources' ? 'resource' : 'prompt';
  const { tools } = runtime.configurations.current().configuration;
  if (!tools.some(({ mcp }) => mcp?.server === server && mcp.kind === kind)) return;
  await tellDoors(server, listChangedRecord(server, list, runtime.clock.now()), runtime);
}

/** A resource changed: what is kept of its server answers no read any more, and doors tell those who subscribed. */
async function tellOfResource(server: string, uri: string, toolbox: Toolbox, runtime: Runtime): Promise<void> {
  await toolbox.changed(server);
  await tellDoors(server, resourceUpdatedRecord({ server, uri }, runtime.clock.now()), runtime);
}

async function tellDoors(server: string, record: AgentProgress, { bus, log }: Runtime): Promise<void> {
  await bus
    .publish([{ topic: topics.progress, key: serversKey, record }])
    .catch((error: unknown) =>
      log.warn({ server, error: (error as Error).message }, 'clients do not hear what changed at an MCP server'),
    );
}

/** Of how runs ended, what can be an agent’s is of interest to the turn that waits for it. */
function isAwaited(message: Incoming): boolean {
  return message.topic !== 'agent.responses' || isAgentRunId(message.record.requestId);
}

/** Once at the start, and again when it is another authorizer: that everybody may do everything must not go unsaid. */
function sayWhoDecides({ configurations, log }: Runtime): void {
  let said: string | undefined;
  configurations.onChange(({ configuration }) => {
    const authorizer = configuration.authorization?.kind ?? 'allow-all';
    if (authorizer === said) return;
    said = authorizer;
    const message =
      configuration.authorization === null
        ? 'no authorization is configured: every caller that may use a group may use its tools'
        : 'authorization says who may use a tool';
    log.info({ authorizer }, message);
  });
}

/** Where no configuration file is followed, a server's change is only logged. */
export function sayServerChange(server: string, log: Log): void {
  log.warn(
    { server },
    'an MCP server came back or changed its tools; compile the configuration again to take up what it offers now',
  );
}

/**
 * The executor with MCP servers and models of its own. What a server changes later is held back until an operator
 * compiles again.
 */
export async function serveExecutor(runtime: Runtime): Promise<Service> {
  const { environment, log, traces } = runtime;
  const servers = new McpServers(environment, log, (server) => sayServerChange(server, log), traces);
  const service = await startExecutor(runtime, servers, new Models((variable) => environment.secret(variable)));
  return {
    close: async () => {
      await service.close();
      await servers.close();
    },
  };
}

/** Shows the tools of each server of the configuration in force; servers that are in it no more are forgotten. */
function showServerTools({ mcpServers, tools }: Configuration, metrics: Metrics): void {
  metrics.mcpServerTools.reset();
  for (const { id } of mcpServers) {
    const own = tools.filter(({ mcp }) => mcp?.server === id && mcp.kind === undefined);
    const offered = own.filter(({ spec }) => spec !== null).length;
    metrics.mcpServerTools.set({ server: id, status: 'offered' }, offered);
    metrics.mcpServerTools.set({ server: id, status: 'withheld' }, own.length - offered);
  }
}

/** Reads the state of the servers whenever the metrics are read. */
function showServerStates(status: () => readonly McpServerStatus[], metrics: Metrics): void {
  const gauge = metrics.mcpServerReady as typeof metrics.mcpServerReady & { collect?: () => void };
  gauge.collect = () => {
    gauge.reset();
    for (const { server, state } of status()) gauge.set({ server }, state === 'ready' ? 1 : 0);
  };
}
