import type {
  AuthorizationPort,
  BoundTool,
  Configuration,
  ConnectionBroker,
  KnowledgeSettings,
  ModelSettings,
  ModelTurn,
  ToolCapabilities,
  ToolInvocation,
  ToolSource,
} from '@sluice/core';
import { Fault, ToolUnavailableError } from '@sluice/core';
import { createConnectionBroker } from '@sluice/connections';
import { createAuthorizer } from '@sluice/authorization';
import type { ModelSource } from '@sluice/model';
import {
  authOf,
  builtInTools,
  clientsOf,
  createToolSource,
  fileContracts,
  journalIn,
  openEmbeddedKnowledge,
  openJournalFile,
  openSparqlEndpoint,
  sessionKey,
  todosIn,
  ToolProcesses,
} from '@sluice/tools';
import type {
  CallCredential,
  ChangeJournal,
  KnowledgeStore,
  McpHub,
  SessionLife,
  ToolContract,
  Workspace,
} from '@sluice/tools';
import { chatSpan, dataFiles, measureFailure, measureTurn, otherLabel, usage } from '@sluice/service';
import type { Runtime } from '@sluice/service';
import { KnowledgeStores } from './knowledge-stores.js';
import { PerServerLimit } from './per-server-limit.js';
import { countFilesFromZero } from './step-metrics.js';
import { requireWorkspaces, workspacesIn } from './workspaces.js';

/** A configuration’s tools, and the contracts that they are made of. */
interface Opened {
  readonly contracts: readonly ToolContract[];
  readonly source: ToolSource;
}

/** The executor's composition root: what binds tools to what they use. */
export class Toolbox {
  /** Keeps a burst of calls from drowning a server. */
  readonly perServer = new PerServerLimit();
  /** Turns connections into credentials. */
  readonly connections: ConnectionBroker;
  /** Where the tools of files run. */
  private readonly processes: ToolProcesses;
  private readonly life: SessionLife;
  private readonly opened = new WeakMap<Configuration, Promise<Opened>>();
  private readonly authorizers = new WeakMap<Configuration, AuthorizationPort>();
  private readonly knowledge: KnowledgeStores;

  constructor(
    private readonly runtime: Runtime,
    private readonly hub: McpHub,
    private readonly models: ModelSource,
  ) {
    const { environment, clock, metrics, log } = runtime;
    this.life = { clock, keptMs: environment.sessionsKeptMs };
    this.knowledge = new KnowledgeStores({
      open: (settings) => this.openKnowledge(settings),
      onCloseFailed: (error) => log.warn({ error: (error as Error).message }, 'a knowledge graph could not be let go'),
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
    return (await this.open(configuration)).source;
  }

  /** Who decides what is permitted under this configuration. */
  authorizer(configuration: Configuration): AuthorizationPort {
    let authorizer = this.authorizers.get(configuration);
    if (authorizer === undefined) {
      authorizer = createAuthorizer(configuration.authorization);
      this.authorizers.set(configuration, authorizer);
    }
    return authorizer;
  }

  /** Loads what the configuration, from now on the one in force, needs. Throws a sentence if a store that its tools need is not there. */
  async prepare(configuration: Configuration): Promise<void> {
    this.knowledge.use(configuration.knowledge);
    const { contracts } = await this.open(configuration);
    requireWorkspaces(configuration, contracts, this.runtime.environment);
  }

  /** What the tool declared, and nothing else. */
  async capabilities(
    tool: BoundTool,
    invocation: ToolInvocation,
    signal: AbortSignal,
    configuration: Configuration,
    report: (text: string) => void,
    credential: () => Promise<CallCredential>,
  ): Promise<ToolCapabilities> {
    const all: Record<string, () => unknown> = {
      clock: () => this.runtime.clock,
      cancellation: () => ({ signal }),
      idempotency: () => ({ key: invocation.callKey }),
      progress: () => ({ report }),
      knowledge: () => this.knowledge.of(configuration.knowledge),
      workspace: () => this.workspace(sessionKey(invocation.context)),
      auth: async () => authOf(await credential()),
      connections: async () => clientsOf(await credential(), signal),
      todos: () => todosIn(this.runtime.documents, sessionKey(invocation.context), this.life),
      text: () => ({
        complete: (prompt: string, stop: AbortSignal) => this.complete(configuration, prompt, stop, invocation),
      }),
    };
    const declared = tool.capabilities.map(async (name) => [name, await all[name]?.()] as const);
    return Object.fromEntries(await Promise.all(declared));
  }

  async close(): Promise<void> {
    await this.processes.close();
    await this.knowledge.close();
  }

  private open(configuration: Configuration): Promise<Opened> {
    let opened = this.opened.get(configuration);
    if (opened === undefined) this.opened.set(configuration, (opened = this.load(configuration)));
    return opened;
  }

  private async load(configuration: Configuration): Promise<Opened> {
    const own = await fileContracts(configuration, this.processes, ({ path }, reason) =>
      this.runtime.log.error({ file: path, reason }, 'a tool file cannot be used, so its tools are unavailable'),
    );
    countFilesFromZero(configuration, own, this.runtime.metrics);
    const contracts = [...builtInTools, ...own];
    return { contracts, source: createToolSource(configuration, { contracts, mcp: this.hub }) };
  }

  private workspace(session: string): Workspace {
    return workspacesIn(this.runtime).of(session);
  }

  private async complete(
    configuration: Configuration,
    prompt: string,
    signal: AbortSignal,
    invocation: ToolInvocation,
  ): Promise<string> {
    try {
      const model = await this.models.get(configuration.model);
      const asked = { instructions: '', question: prompt, state: '', history: [], tools: [] };
      const request = { ...asked, toolChoice: { type: 'auto' } } as const;
      const chat = () => chatSpan(configuration.model, invocation.context.sessionId);
      return await this.runtime.traces.span(chat, async (end) => {
        const turn = await this.measured(configuration.model, signal, invocation, () =>
          model.turn(request, { signal }),
        );
        end({ attributes: usage(turn) });
        return turn.answer ?? turn.thought;
      });
    } catch (error) {
      if (signal.aborted) throw error;
      this.runtime.log.warn({ error: (error as Error).message }, 'the text-completion tool could not reach its model');
      throw new ToolUnavailableError('The language model cannot be reached.', { cause: error });
    }
  }

  /** Counted as the agent's turns are, and at once: also a call whose record comes again was one to the provider. */
  private async measured(
    model: ModelSettings,
    signal: AbortSignal,
    invocation: ToolInvocation,
    ask: () => Promise<ModelTurn>,
  ): Promise<ModelTurn> {
    const { clock, metrics } = this.runtime;
    const startedAt = clock.now();
    const seconds = (): number => (clock.now() - startedAt) / 1_000;
    try {
      const turn = await ask();
      measureTurn(turn, seconds(), model, metrics);
      return turn;
    } catch (error) {
      // A service that gives the record up is no failure of the model; a call whose time is up is one.
      if (!invocation.signal.aborted)
        measureFailure(signal.aborted ? noAnswer(error) : error, seconds(), model, metrics);
      throw error;
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

function noAnswer(cause: unknown): Fault {
  return new Fault('model_unreachable', 'The model did not answer in the time of the call.', true, { cause });
}
