import type {
  AuthorizationPort,
  BoundTool,
  CachedOutput,
  Configuration,
  ConnectionBroker,
  JsonObject,
  JsonValue,
  KnowledgeSettings,
  McpServer,
  ToolCapabilities,
  ToolInvocation,
  ToolSource,
} from '@sluice/core';
import { commonConfiguration, modelsOf, ToolUnavailableError, whyIncomplete } from '@sluice/core';
import { createConnectionBroker } from '@sluice/connections';
import { authorizers } from '@sluice/authorization';
import type { ModelSource } from '@sluice/model';
import { authOf, clientsOf } from '@sluice/tools';
import {
  citationsIn,
  builtInTools,
  journalIn,
  openDocuments,
  openEmbeddedKnowledge,
  openJournalFile,
  openSearch,
  openSparqlEndpoint,
  openWeb,
  ownerKey,
  ParsedDocuments,
  requirementsIn,
  sessionKey,
  todosIn,
  withPages,
} from '@sluice/packs';
import { createToolSource, fileContracts, withClientTools } from '@sluice/sources';
import type { FromClient } from '@sluice/sources';
import { CallLists } from './call-lists.js';
import { networkNamespace, networkRequests, ToolProcesses } from '@sluice/isolation';
import { ResultCache } from '@sluice/hub';
import type {
  CallCredential,
  KnowledgeStore,
  OwnProgress,
  ServiceCapabilities,
  ToolContract,
  Workspace,
} from '@sluice/tools';
import type { ChangeJournal, PackCapabilities, SessionLife, WebAccess } from '@sluice/packs';
import type { CallAnswers, CallQuestions, McpHub } from '@sluice/hub';
import type { NetworkRequests } from '@sluice/isolation';
import { otherLabel } from '@sluice/run';
import type { BudgetParts, RunTools } from '@sluice/run';
import { dataFiles, PerServerLimit } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { CallWatch } from './load/call-watch.js';
import { answersFor } from './answer-server.js';
import type { AskCaller } from './ask-caller.js';
import { KnowledgeStores } from './knowledge-stores.js';
import { requireGraph, RequirementGraphs, usingGraph } from './requirement-graphs.js';
import { ModelForTools, NoBudget } from './model-for-tools.js';
import { resultPages } from './result-pages.js';
import { requireSelectorKey, searchOffered } from './search-offered.js';
import { countFilesFromZero } from './step-metrics.js';
import { requireWorkspaces, workspacesIn } from './workspaces.js';

/** All that tools may be given; the compiler asks for each below. */
type Given = ServiceCapabilities &
  PackCapabilities & { readonly network: NetworkRequests; readonly answers: CallAnswers; readonly client: FromClient };

/** A configuration’s tools, and the contracts that they are made of. */
interface Opened {
  readonly contracts: readonly ToolContract[];
  readonly source: ToolSource;
}

/** The executor's composition root: what binds tools to what they use. */
export class Toolbox {
  /** Keeps a burst of calls from drowning a server. */
  readonly perServer = new PerServerLimit();
  /** The load of this executor, for rules about it. */
  readonly calls: CallWatch;
  /** Turns connections into credentials. */
  readonly connections: ConnectionBroker;
  /** Lists that bounds name and that are kept elsewhere. */
  readonly lists: CallLists;
  /** Where the tools of files run. */
  private readonly processes: ToolProcesses;
  /** What tools of MCP servers gave to equal calls. */
  private readonly results: ResultCache;
  private readonly life: SessionLife;
  private readonly opened = new WeakMap<Configuration, Promise<Opened>>();
  private readonly ofClients = new WeakMap<Configuration, ToolSource>();
  private readonly caching = new WeakMap<Configuration, ReadonlySet<string>>();
  /** Who decides what is permitted under a configuration. */
  readonly authorizer: (configuration: Configuration) => AuthorizationPort;
  private readonly knowledge: KnowledgeStores;
  private readonly parsed = new ParsedDocuments();
  private readonly model: ModelForTools;
  private readonly graphs: RequirementGraphs;
  private readonly webs = new Map<string, WebAccess>();
  private saidNetwork = false;
  private readonly networks = new Map<string, NetworkRequests>();

  constructor(
    private readonly runtime: Runtime,
    private readonly hub: McpHub,
    models: ModelSource,
  ) {
    this.model = new ModelForTools(models, runtime);
    const { environment, clock, metrics, log } = runtime;
    this.calls = new CallWatch(runtime);
    this.graphs = new RequirementGraphs(runtime);
    this.lists = new CallLists(runtime, (configuration) => this.requests(configuration));
    this.life = { clock, keptMs: environment.sessionsKeptMs };
    this.knowledge = new KnowledgeStores({
      open: (settings) => this.openKnowledge(settings),
      onCloseFailed: (error) => log.warn({ error: (error as Error).message }, 'a knowledge graph could not be let go'),
    });
    this.results = new ResultCache({
      ...{ documents: runtime.documents, clock },
      onAsked: (server, outcome) => metrics.mcpCachedCalls.inc({ server, outcome }),
      onFault: (server, error) =>
        log.warn({ server, error: (error as Error).message }, 'the ledger could not be asked about cached results'),
    });
    this.processes = new ToolProcesses({
      onEnd: (file, type, end, words) => {
        metrics.toolProcessEnds.inc({ type: type === '' ? otherLabel : type, reason: end });
        log.error(
          { file, type, reason: end, why: words },
          'a tool’s process ended; a call that it was running has failed',
        );
      },
      onOutput: (file, line) => log.info({ file, line }, 'a tool wrote'),
    });
    this.authorizer = authorizers((variable) => environment.secret(variable));
    this.connections = createConnectionBroker({
      secret: (variable) => environment.secret(variable),
      clock,
      onAsked: (connection, outcome, why) => {
        metrics.connectionCredentials.inc({ connection, outcome });
        if (why !== null) log.error({ connection, outcome, why }, 'there is no credential for a connection');
      },
    });
  }

  async source(configuration: Configuration): Promise<ToolSource> {
    const { source } = await this.open(configuration);
    let own = this.ofClients.get(configuration);
    if (own === undefined) this.ofClients.set(configuration, (own = withClientTools(source, configuration)));
    return own;
  }

  /**
   * Loads what the configuration, from now on the one in force, needs. Throws a sentence if a store that its tools
   * need is not there.
   */
  async prepare(configuration: Configuration): Promise<void> {
    this.knowledge.use(configuration.knowledge);
    this.lists.use(configuration);
    const { contracts } = await this.open(configuration);
    requireWorkspaces(configuration, contracts, this.runtime.environment);
    requireGraph(configuration, contracts, this.runtime.environment);
    requireSelectorKey(configuration, this.runtime.environment);
    if (usingGraph(configuration, contracts).length > 0) void this.graphs.check(configuration);
  }

  /** What the tool declared, and nothing else. */
  async capabilities(
    tool: BoundTool,
    invocation: ToolInvocation,
    signal: AbortSignal,
    configuration: Configuration,
    progress: OwnProgress,
    credential: () => Promise<CallCredential>,
    runTools: Pick<RunTools, 'load' | 'pages' | 'searchable'>,
    resultBytes: number,
    asking: {
      readonly caller: AskCaller;
      readonly questions: CallQuestions;
      readonly budgets: BudgetParts;
      readonly resume?: JsonObject;
      readonly client: FromClient['result'];
    },
  ): Promise<ToolCapabilities> {
    const all: { readonly [Name in keyof Given]: () => Given[Name] | Promise<Given[Name]> } = {
      clock: () => this.runtime.clock,
      cancellation: () => ({ signal }),
      idempotency: () => ({ key: invocation.callKey }),
      progress: () => progress,
      knowledge: () => this.knowledge.of(configuration.knowledge),
      workspace: () => withToolPages(this.workspace(sessionKey(invocation.context)), runTools),
      documents: () =>
        openDocuments(
          this.workspace(sessionKey(invocation.context)),
          configuration.documents?.folder ?? null,
          this.parsed,
        ),
      toolsets: () => ({
        load: async (group: string) => runTools.load(group),
        search: (query: string) =>
          searchOffered(query, runTools.searchable(), {
            ...{ settings: configuration.agentDiscovery, environment: this.runtime.environment, signal },
          }),
      }),
      results: () => resultPages(invocation.context, this.runtime.content, resultBytes),
      citations: () => citationsIn(this.runtime.documents, ownerKey(invocation.context), this.runtime.clock),
      requirements: () => requirementsIn(this.runtime.documents, invocation.context, this.runtime.clock),
      web: () => this.web(configuration),
      network: () => this.requests(configuration),
      graph: () => this.graphs.of(configuration, invocation.context.tenantId),
      auth: async () => authOf(await credential()),
      connections: async () => clientsOf(await credential(), signal),
      answers: () =>
        answersFor(serverOf(tool, configuration), {
          ...{ configuration, models: this.model, invocation, signal, ...asking },
          onFault: (error) =>
            this.runtime.log.warn(
              { error: (error as Error).message, tool: tool.id },
              'a server could not ask its model',
            ),
        }),
      client: () => ({ result: asking.client }),
      todos: () => todosIn(this.runtime.documents, sessionKey(invocation.context), this.life),
      text: () => ({
        complete: (prompt: string, stop: AbortSignal) =>
          this.complete(configuration, prompt, stop, invocation, asking.budgets),
      }),
    };
    const declared = tool.capabilities.map(async (name) => [name, await all[name as keyof Given]()] as const);
    return Object.fromEntries(await Promise.all(declared));
  }

  /** What may answer a call of a tool with `cacheMs` in its place. */
  cached(
    { id: toolId, cacheMs = 0 }: BoundTool,
    { context: caller }: ToolInvocation,
    args: JsonValue,
    { version, tools }: Configuration,
  ): Promise<CachedOutput> {
    const server = tools.find(({ id }) => id === toolId)?.mcp?.server ?? '';
    return this.results.output({ server, toolId, cacheMs, version, caller, args });
  }

  /**
   * Does the work of a call; where it may change something at a server with cached results, these answer nothing any
   * more.
   */
  changing<T>({ id, effect }: BoundTool, under: readonly Configuration[], work: () => Promise<T>): Promise<T> {
    if (effect === 'read_only') return work();
    const caching = new Set(under.flatMap((configuration) => [...this.serversWithCache(configuration)]));
    if (caching.size === 0) return work();
    const server = under.flatMap(({ tools }) => tools.find((tool) => tool.id === id)?.mcp?.server ?? [])[0];
    return server === undefined || !caching.has(server) ? work() : this.results.changing(server, work);
  }

  /** Something at the server changed, by no call: its cached results answer nothing any more. */
  async changed(server: string): Promise<void> {
    const { configuration } = this.runtime.configurations.current();
    if (!this.serversWithCache(configuration).has(server)) return;
    await this.results
      .changing(server, () => Promise.resolve())
      .catch((error: unknown) =>
        this.runtime.log.warn({ server, error: (error as Error).message }, 'cached results may be out of date'),
      );
  }

  private serversWithCache(configuration: Configuration): ReadonlySet<string> {
    let servers = this.caching.get(configuration);
    if (servers === undefined) {
      const places = configuration.tools.flatMap(({ mcp }) => mcp ?? []);
      servers = new Set(places.filter(({ cacheMs }) => cacheMs !== undefined).map(({ server }) => server));
      this.caching.set(configuration, servers);
    }
    return servers;
  }

  async close(): Promise<void> {
    this.lists.close();
    await this.calls.close();
    await this.processes.close();
    await this.knowledge.close();
    await this.graphs.close();
    await Promise.all([...this.webs.values(), ...this.networks.values()].map((one) => one.close()));
  }

  /** Tools are the same for all agents of a configuration. */
  private open(given: Configuration): Promise<Opened> {
    const configuration = commonConfiguration(given);
    let opened = this.opened.get(configuration);
    if (opened === undefined) this.opened.set(configuration, (opened = this.load(configuration)));
    return opened;
  }

  private async load(configuration: Configuration): Promise<Opened> {
    const { log } = this.runtime;
    const own = await fileContracts(
      configuration,
      this.processes,
      ({ path }, reason) =>
        log.error({ file: path, reason }, 'a tool file cannot be used, so its tools are unavailable'),
      ({ path }, uses) => log.warn({ file: path, uses }, 'a tool file uses what no tool has, so calls of it may fail'),
    );
    countFilesFromZero(configuration, own, this.runtime.metrics);
    if (own.length > 0) await this.sayNetwork();
    const contracts = [...builtInTools, ...own];
    return { contracts, source: createToolSource(configuration, { contracts, mcp: this.hub }) };
  }

  /** Once, where there are tool files. */
  private async sayNetwork(): Promise<void> {
    if (this.saidNetwork) return;
    this.saidNetwork = true;
    const namespace = await networkNamespace();
    const { log } = this.runtime;
    if (namespace.command !== null) log.info('processes of tool files are in network namespaces of their own');
    else
      log.warn(
        { why: namespace.why },
        'no network namespace can be made here, so the network of tool files is closed in Node alone',
      );
  }

  /** One for all configurations that permit the same private hosts. */
  private requests({ web }: Configuration): NetworkRequests {
    const privateHosts = web?.privateHosts ?? [];
    const key = JSON.stringify(privateHosts);
    let requests = this.networks.get(key);
    if (requests === undefined) this.networks.set(key, (requests = networkRequests(privateHosts)));
    return requests;
  }

  /** One for all configurations that say the same of it. */
  private web({ web: settings = { search: null, privateHosts: [] } }: Configuration): WebAccess {
    const key = JSON.stringify(settings);
    let web = this.webs.get(key);
    if (web === undefined) {
      const { search: named, privateHosts } = settings;
      const { environment, clock } = this.runtime;
      const search =
        named === null
          ? null
          : openSearch(named, () => (named.apiKeyEnv === null ? undefined : environment.secret(named.apiKeyEnv)));
      web = openWeb({ privateHosts, search, parsed: this.parsed, clock });
      this.webs.set(key, web);
    }
    return web;
  }

  private workspace(session: string): Workspace {
    return workspacesIn(this.runtime).of(session);
  }

  private async complete(
    configuration: Configuration,
    prompt: string,
    signal: AbortSignal,
    invocation: ToolInvocation,
    budgets: BudgetParts,
  ): Promise<string> {
    try {
      const request = { instructions: '', question: prompt };
      const { turn } = await this.model.ask(modelsOf(configuration), request, signal, invocation, budgets);
      const said = turn.answer ?? turn.thought;
      return turn.incomplete === undefined ? said : `${said}\n\n[${whyIncomplete(turn.incomplete)}]`;
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof NoBudget) throw new ToolUnavailableError(error.message, { cause: error });
      this.runtime.log.warn({ error: (error as Error).message }, 'the text-completion tool could not reach its model');
      throw new ToolUnavailableError('The language model cannot be reached.', { cause: error });
    }
  }

  private async openKnowledge({ endpoint, updateEndpoint, load }: KnowledgeSettings): Promise<KnowledgeStore> {
    try {
      if (endpoint !== null) return openSparqlEndpoint({ endpoint, updateEndpoint });
      return await openEmbeddedKnowledge({ load, journal: this.openJournal() });
    } catch (error) {
      this.runtime.log.error({ error: (error as Error).message }, 'the knowledge graph cannot be opened');
      throw new ToolUnavailableError('The knowledge graph cannot be opened.', { cause: error });
    }
  }

  /** On Kafka in the ledger’s database, so that all executors have one graph; else in the data folder. */
  private openJournal(): ChangeJournal {
    const { environment, documents } = this.runtime;
    return environment.bus === 'kafka' ? journalIn(documents) : openJournalFile(dataFiles(environment).graph);
  }
}

/** The workspace of a run, with the pages of its tools where its model is not sent all of their texts. */
function withToolPages(workspace: Workspace, { pages }: Pick<RunTools, 'pages'>): Workspace {
  return pages === null ? workspace : withPages(workspace, pages);
}

function serverOf({ id }: BoundTool, { tools, mcpServers }: Configuration): McpServer | undefined {
  const server = tools.find((tool) => tool.id === id)?.mcp?.server;
  return mcpServers.find((one) => one.id === server);
}
