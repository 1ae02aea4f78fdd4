import type { ChoosingStrategy, DiscoveryPipe, DiscoveryStrategy, Embedder, Pipes } from '@sluice/core';
import { chooseTools } from './choose.js';
import type { Choice, Known } from './choose.js';
import { habitShares, HabitStore } from './habits.js';
import { type Closeness, Meanings } from './hybrid.js';
import { inTime } from './in-time.js';
import { IndexCache } from './index-cache.js';
import type { NativeSearchAt } from './report.js';
import type { DiscoveryParts, DiscoveryRequest } from './request.js';
import { routeOf } from './route.js';
import type { BypassReason, UnreadReason } from './route.js';
import { searchToolOf } from './search-tool.js';
import { DiscoverySessions } from './sessions.js';
import { comparedQuestion } from './tool.js';
import { DiscoveryTurn } from './turn.js';
import type { TurnParts, TurnStart } from './turn.js';

/** Discovery in front of model APIs. One per process: it holds indexes of tool lists that it has met. */
export class Discovery {
  private readonly indexes = new IndexCache();
  private readonly meanings: Meanings;
  private readonly turnParts: TurnParts;

  constructor(private readonly parts: DiscoveryParts) {
    const { documents, clock, digest } = parts;
    this.meanings = new Meanings(() => clock.now());
    const [sessions, habits] = [new DiscoverySessions(documents, clock, digest), new HabitStore(documents, clock)];
    this.turnParts = { ...parts, sessions, habits };
  }

  /** Chooses the tools of a request. Never rejects: what fails leaves the request as it is. */
  async begin(pipes: Pipes | undefined, request: DiscoveryRequest): Promise<DiscoveryTurn> {
    const { clock, warn } = this.parts;
    const startedAt = clock.now();
    const route = routeOf(pipes, { hasToolOutputs: request.hasToolOutputs, toolCount: request.tools.length });
    const unchanged = (bypass: BypassReason): TurnStart => ({
      ...{ pipe: route.pipe, bypass, kept: request.tools.map((_, index) => index), deferred: [], searchTool: null },
      ...{ nativeSearch: null, meanings: null },
      ...{ hasSession: false, shadow: null, chooseMs: clock.now() - startedAt },
    });
    const turn = (start: TurnStart): DiscoveryTurn =>
      new DiscoveryTurn(this.turnParts, pipes?.toolDiscovery ?? null, request, start);
    if (pipes === undefined || route.bypass !== null) return turn(unchanged(route.bypass ?? 'disabled'));
    if (request.unsupported === true) return turn(unchanged('unsupported_wire'));
    const { toolDiscovery: settings } = pipes;
    if (settings.strategy === 'passthrough' && settings.shadow === null) return turn(unchanged('passthrough'));
    if (settings.strategy !== 'passthrough' && request.hasOwnSearch === true) return turn(unchanged('own_search'));
    if (
      settings.enableSearchFallback &&
      request.takesSearchTool !== false &&
      nativeSearchAt(settings, request) !== 'provider' &&
      request.tools.some(({ name }) => name === settings.searchToolName)
    ) {
      warn(
        { tool: settings.searchToolName },
        'a tool of a request has the name of the search tool, so the request passes unchanged; set search_tool_name',
      );
      return turn(unchanged('name_clash'));
    }
    try {
      const [expanded, known] = await Promise.all([
        this.expanded(request.session, settings.strategy),
        this.known(settings, request),
      ]);
      const chosen = this.choose(settings, request, expanded, known);
      return turn({
        ...chosen,
        pipe: 'tool_discovery',
        meanings: known.meanings,
        hasSession: settings.strategy !== 'passthrough',
        chooseMs: clock.now() - startedAt,
      });
    } catch (error) {
      warn({ error: (error as Error).message }, 'tools could not be chosen, so a request passes unchanged');
      return turn(unchanged('failed'));
    }
  }

  /**
   * A request whose body could not be read, so that it passes as it came: there is nothing to choose, and a record of
   * that.
   */
  unread(
    pipes: Pipes | undefined,
    said: Pick<DiscoveryRequest, 'requestId' | 'sessionId' | 'configVersion' | 'tenantId' | 'wire' | 'model'>,
    bypass: UnreadReason,
  ): DiscoveryTurn {
    const request: DiscoveryRequest = {
      ...said,
      ...{ source: 'proxy', iteration: 0, tools: [], query: '', recentlyUsed: new Set(), hasToolOutputs: false },
      session: null,
    };
    const isOn = pipes?.toolDiscovery.enabled === true;
    return new DiscoveryTurn(this.turnParts, pipes?.toolDiscovery ?? null, request, {
      ...{ pipe: isOn ? 'tool_discovery' : null, bypass, kept: [], deferred: [], searchTool: null },
      ...{ nativeSearch: null, meanings: null, hasSession: false, shadow: null, chooseMs: 0 },
    });
  }

  private choose(
    settings: DiscoveryPipe,
    request: DiscoveryRequest,
    expanded: readonly string[],
    known: Known,
  ): Pick<TurnStart, 'kept' | 'deferred' | 'bypass' | 'searchTool' | 'nativeSearch' | 'shadow'> {
    const { tools } = request;
    const asked = {
      query: comparedQuestion(request.query),
      recentlyUsed: request.recentlyUsed,
      expanded: new Set(expanded),
      alwaysKeep: new Set(settings.alwaysKeep),
    };
    const nativeSearch = nativeSearchAt(settings, request);
    const isNative = nativeSearch === 'provider';
    const forced = new Set([...(request.forced ?? []), ...(isNative ? [] : (request.used ?? []))]);
    const isForced = (index: number): boolean => forced.has(tools[index]?.name ?? '');
    const all = tools.map((_, index) => index);
    const chosenBy = (strategy: ChoosingStrategy): Choice => {
      const choice = chooseTools(strategy, tools, asked, settings, (list) => this.indexes.indexOf(list), known);
      if (!choice.deferred.some(isForced)) return choice;
      const deferred = choice.deferred.filter((index) => !isForced(index));
      const gone = new Set(deferred);
      return { ...choice, kept: all.filter((index) => !gone.has(index)), deferred };
    };
    const { shadow: beside } = settings;
    const shadow = beside === null ? null : this.shadow(() => chosenBy(beside));
    const takesSearchTool = settings.enableSearchFallback && !isNative && request.takesSearchTool !== false;
    const searchTool = takesSearchTool ? searchToolOf(settings.searchToolName) : null;
    switch (settings.strategy) {
      case 'passthrough':
        return { kept: all, deferred: [], bypass: 'passthrough', searchTool: null, nativeSearch: null, shadow };
      case 'tool-search':
      case 'api': {
        // Sluice’s own search always gives what is always kept; the provider’s does not know of it.
        const isShown = (name: string): boolean => asked.expanded.has(name) || (isNative && asked.alwaysKeep.has(name));
        const kept = all.filter((index) => isForced(index) || isShown(tools[index]?.name ?? ''));
        const shown = new Set(kept);
        const deferred = all.filter((index) => !shown.has(index));
        return { kept, deferred, bypass: null, searchTool, nativeSearch, shadow };
      }
      case 'relevance':
      case 'ranked':
      case 'hybrid': {
        const chosen = chosenBy(settings.strategy);
        const { kept, deferred, skipped } = isNative ? withDeferred(chosen, request, isForced) : chosen;
        if (skipped !== null) return { kept, deferred, bypass: skipped, searchTool: null, nativeSearch: null, shadow };
        return { kept, deferred, bypass: null, searchTool, nativeSearch, shadow };
      }
    }
  }

  /** What a strategy beside would have kept; one that fails changes nothing. */
  private shadow(choose: () => Choice): readonly number[] | null {
    try {
      return choose().kept;
    } catch (error) {
      this.parts.warn({ error: (error as Error).message }, 'the shadow strategy failed');
      return null;
    }
  }

  /** What the choice goes by beside words. Never rejects: without it words decide. */
  private async known(
    settings: DiscoveryPipe,
    request: DiscoveryRequest,
  ): Promise<Known & Pick<TurnStart, 'meanings'>> {
    const [close, habits] = await Promise.all([this.closeness(settings, request), this.habits(settings, request)]);
    return {
      ...{ closeness: close?.closeness ?? null, meanings: close?.way ?? null },
      ...(habits === null ? {} : { habits }),
    };
  }

  /** Null where the settings do not ask for it. */
  private async closeness(
    { strategy, shadow, embeddings }: DiscoveryPipe,
    { tools, query }: DiscoveryRequest,
  ): Promise<Closeness | null> {
    if (strategy !== 'hybrid' && shadow !== 'hybrid') return null;
    if (embeddings === undefined) return { way: 'no_model', closeness: null };
    const embedder = (): Promise<Embedder> => this.parts.embedder(embeddings);
    const found = await this.meanings.atOnce(embedder, tools, query, embeddings.timeoutMs);
    if (found.error !== undefined)
      this.parts.warn({ error: found.error.message }, 'tools could not be embedded, so words alone decide');
    return found;
  }

  private async habits({ recent }: DiscoveryPipe, request: DiscoveryRequest): Promise<readonly number[] | null> {
    if (recent !== true) return null;
    try {
      const names = request.tools.map(({ name }) => name);
      return habitShares(await inTime(this.turnParts.habits.find(request.tenantId)), names);
    } catch (error) {
      this.parts.warn({ error: (error as Error).message }, 'what was called of late could not be read');
      return null;
    }
  }

  private async expanded(key: string | null, strategy: DiscoveryStrategy): Promise<readonly string[]> {
    if (strategy === 'passthrough' || key === null) return [];
    try {
      return await inTime(this.turnParts.sessions.expanded(key));
    } catch (error) {
      this.parts.warn({ error: (error as Error).message }, 'a session of tool discovery could not be read');
      return [];
    }
  }
}

/**
 * Where the provider’s search is, if the settings want it to stand in for the search tool. A service that selects is
 * asked in any case.
 */
function nativeSearchAt(settings: DiscoveryPipe, request: DiscoveryRequest): NativeSearchAt | null {
  if (settings.nativeSearch === undefined || !settings.enableSearchFallback || settings.strategy === 'api') return null;
  return request.nativeSearch ?? 'unsupported_wire';
}

/** The choice without those that are always left to the provider's own search. */
function withDeferred(
  choice: Choice,
  { tools, deferred: names = [] }: DiscoveryRequest,
  isForced: (index: number) => boolean,
): Choice {
  const always = new Set(names);
  const goes = new Set(choice.kept.filter((index) => always.has(tools[index]?.name ?? '') && !isForced(index)));
  if (goes.size === 0) return choice;
  const kept = choice.kept.filter((index) => !goes.has(index));
  const deferred = tools.flatMap((_, index) => (choice.deferred.includes(index) || goes.has(index) ? [index] : []));
  return { ...choice, kept, deferred, skipped: null };
}
