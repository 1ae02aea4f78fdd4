import { discoveryStrategy, modelsOf, type Configuration, type ModelTurn } from '@sluice/core';
import { sha256, type Toolset } from '@sluice/contracts';
import type { SearchedRequest } from '@sluice/run';
import { Discovery, discoveryRecord, failOpenReasons, searchAnswers } from '@sluice/discovery';
import type { DiscoveryTurn } from '@sluice/discovery';
import { DiscoveryRecords } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Embedders, nativeSearches } from '@sluice/model';
import { definitionText, type TokenCounter } from '@sluice/tokens';

/** The tools that the model of a turn is shown. */
interface Shown {
  /** Their ids; null where it is shown all that were offered. */
  readonly ids: readonly string[] | null;
  /** Whether the others are sent for the provider's own search. */
  readonly isSearched: boolean;
  readonly turn: DiscoveryTurn;
}

/**
 * Chooses which of a turn’s offered tools its model is shown: text alone, no right. A tool that is left out runs if
 * the model calls it.
 */
export class ShownTools {
  private readonly discovery: Discovery;
  private readonly records: DiscoveryRecords;
  private readonly endings = new Set<Promise<void>>();

  /** With the counter of the agent’s own counts: both count the same definitions. */
  constructor(runtime: Runtime, counter: TokenCounter) {
    const { clock, documents, environment, log } = runtime;
    const embedders = new Embedders((variable) => environment.secret(variable));
    this.records = new DiscoveryRecords(runtime);
    this.discovery = new Discovery({
      ...{ documents, clock, digest: sha256, counter },
      secret: (variable) => environment.secret(variable),
      embedder: (settings) => embedders.get(settings),
      report: (report) => this.records.note(discoveryRecord(report)),
      warn: (details, message) => log.warn(details, message),
    });
  }

  /** Null where the configuration leaves all tools to the model. */
  async choose(
    toolset: Toolset,
    { request, needed, found, searching, searches }: SearchedRequest,
    configuration: Configuration,
  ): Promise<Shown | null> {
    const { agentDiscovery: settings, model, version } = configuration;
    if (settings === undefined || request.tools.length === 0) return null;
    const { nativeSearch: wanted } = settings;
    const native =
      wanted === undefined ? null : (await nativeSearches()).nativeSearchOfAll(modelsOf(configuration), wanted);
    const nativeSearch = native === null || typeof native === 'string' ? native : ('provider' as const);
    const { kind, search } = discoveryStrategy(settings.strategy);
    const isSearch = kind === 'search';
    const isNative = nativeSearch === 'provider' && kind !== 'none' && search !== 'service';
    // Without a search, what is left out would be out of reach.
    const isBlind = isSearch && !isNative && searching.length === 0;
    const strategy = isBlind ? 'passthrough' : settings.strategy;
    const shadow = settings.shadow ?? null;
    const pipe = { ...settings, strategy, shadow, enabled: true, enableSearchFallback: wanted !== undefined };
    const pipes = { toolDiscovery: pipe, toolOutput: { enabled: false } };
    // Never two searches.
    const isChosen = (id: string): boolean => request.toolChoice.type === 'tool' && request.toolChoice.id === id;
    const choosable = isNative
      ? request.tools.filter(({ id }) => !searching.includes(id) || isChosen(id))
      : request.tools;
    const flagged = (is: boolean): readonly string[] =>
      configuration.tools.flatMap(({ id, deferLoading }) => (deferLoading === is ? [id] : []));
    const { requestId, sessionId, iteration, run } = toolset;
    const turn = await this.discovery.begin(pipes, {
      ...{ source: 'agent', requestId, sessionId, iteration, configVersion: version },
      ...{ tenantId: run.principal?.tenantId ?? 'local', wire: model.provider, model: model.name ?? model.provider },
      tools: choosable.map((tool) => ({
        ...{ name: tool.id, description: tool.description, parameters: tool.inputSchema },
        raw: definitionText(tool),
      })),
      // The provider keeps what it found in the conversation, and its cache as long as the list is the same.
      ...{
        query: request.question,
        recentlyUsed: new Set(isNative ? [] : request.history.map(({ toolId }) => toolId)),
        used: new Set(request.history.map(({ toolId }) => toolId)),
      },
      ...{ hasToolOutputs: request.history.length > 0, session: null, takesSearchTool: false },
      ...(nativeSearch === null ? {} : { nativeSearch }),
      deferred: flagged(true),
      forced: [
        ...needed,
        ...flagged(false),
        ...(isNative ? [] : found),
        ...(isSearch ? settings.alwaysKeep : []),
        ...(isNative || settings.strategy === 'relevance' ? [] : searching),
        ...(request.toolChoice.type === 'tool' ? [request.toolChoice.id] : []),
      ],
    });
    for (const { query, found: matched, by, failOpen } of searches) {
      const answered = searchAnswers.find((one) => one === by);
      const reason = failOpenReasons.find((one) => one === failOpen) ?? null;
      if (answered !== undefined) turn.note({ query, matched, by: answered, failOpen: reason });
    }
    return {
      ids: turn.unchanged ? null : turn.keptNames,
      isSearched: turn.start.nativeSearch === 'provider',
      turn,
    };
  }

  /** To be called once the turn is on the log. */
  end(shown: Shown, taken: ModelTurn): void {
    const ending = this.ended(shown, taken);
    this.endings.add(ending);
    void ending.finally(() => this.endings.delete(ending));
  }

  private async ended({ turn, isSearched }: Shown, taken: ModelTurn): Promise<void> {
    if (isSearched)
      for (const { query, found } of (await nativeSearches()).searchesIn(taken)) turn.answered(query, found);
    await turn.end({ rounds: 0, called: taken.calls.map(({ tool }) => tool) });
  }

  async close(): Promise<void> {
    await Promise.all(this.endings);
    await this.records.close();
  }
}
