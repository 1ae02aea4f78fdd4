import type { Configuration } from '@sluice/core';
import type { Toolset } from '@sluice/contracts';
import type { searchedRequestOf } from '@sluice/run';
import { Discovery, discoveryRecord } from '@sluice/discovery';
import type { DiscoveryTurn } from '@sluice/discovery';
import { DiscoveryRecords } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Embedders } from '@sluice/model';

/** The tools that the model of a turn is shown. */
export interface Shown {
  /** Their ids; null where it is shown all that were offered. */
  readonly ids: readonly string[] | null;
  readonly turn: DiscoveryTurn;
}

/** Chooses which of a turn’s offered tools its model is shown: text alone, no right. A tool that is left out runs if the model calls it. */
export class ShownTools {
  readonly #discovery: Discovery;
  readonly #records: DiscoveryRecords;
  readonly #endings = new Set<Promise<void>>();

  constructor(runtime: Runtime) {
    const { clock, documents, environment, log } = runtime;
    const embedders = new Embedders((variable) => environment.secret(variable));
    this.#records = new DiscoveryRecords(runtime);
    this.#discovery = new Discovery({
      ...{ documents, clock },
      secret: (variable) => environment.secret(variable),
      embedder: (settings) => embedders.get(settings),
      report: (report) => this.#records.note(discoveryRecord(report)),
      warn: (details, message) => log.warn(details, message),
    });
  }

  /** Null where the configuration leaves all tools to the model. */
  async choose(
    toolset: Toolset,
    { request, needed }: ReturnType<typeof searchedRequestOf>,
    configuration: Configuration,
  ): Promise<Shown | null> {
    const { agentDiscovery: settings, model, version } = configuration;
    if (settings === undefined || request.tools.length === 0) return null;
    const pipes = { toolDiscovery: { ...settings, enabled: true, shadow: null }, toolOutput: { enabled: false } };
    const { requestId, sessionId, iteration, run } = toolset;
    const turn = await this.#discovery.begin(pipes, {
      ...{ source: 'agent', requestId, sessionId, iteration, configVersion: version },
      ...{ tenantId: run.principal?.tenantId ?? 'local', wire: model.provider, model: model.name ?? model.provider },
      tools: request.tools.map(({ id, description, inputSchema }) => ({
        ...{ name: id, description, parameters: inputSchema },
        raw: JSON.stringify({ name: id, description, parameters: inputSchema }),
      })),
      ...{ query: request.question, recentlyUsed: new Set(request.history.map(({ toolId }) => toolId)) },
      ...{ hasToolOutputs: request.history.length > 0, session: null },
      forced: [...needed, ...(request.toolChoice.type === 'tool' ? [request.toolChoice.id] : [])],
    });
    return { ids: turn.unchanged ? null : turn.keptNames, turn };
  }

  /** To be called once the turn is on the log. */
  end({ turn }: Shown, called: readonly string[]): void {
    const ending = turn.end({ rounds: 0, called });
    this.#endings.add(ending);
    void ending.finally(() => this.#endings.delete(ending));
  }

  async close(): Promise<void> {
    await Promise.all(this.#endings);
    await this.#records.close();
  }
}
