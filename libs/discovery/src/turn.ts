import type { DiscoveryPipe } from '@sluice/core';
import type { TokenCounter } from '@sluice/tokens';
import type { HabitStore } from './habits.js';
import type { MeaningsWay } from './hybrid.js';
import { inTime } from './in-time.js';
import { readTools } from './read-tools.js';
import type { DiscoveryReport, NativeSearchAt, SearchReport } from './report.js';
import type { DiscoveryOutcome, DiscoveryParts, DiscoveryRequest, RequestTool, SearchAnswer } from './request.js';
import { type BypassReason, isUnread } from './route.js';
import { longestSearch, searchResultText, tooLongText } from './search-tool.js';
import type { SearchTool } from './search-tool.js';
import { searchTools } from './search.js';
import { askSelector } from './selector.js';
import type { DeferredTool, DiscoverySessions, SessionNote } from './sessions.js';
import type { OfferedTool } from './tool.js';

/** What turns of one process share. */
export interface TurnParts extends Omit<DiscoveryParts, 'documents' | 'digest' | 'embedder'> {
  readonly sessions: DiscoverySessions;
  readonly habits: HabitStore;
}

type CountedTokens = Pick<DiscoveryReport, 'tokensBefore' | 'tokensAfter' | 'tokenizer'>;

const uncounted: CountedTokens = { tokensBefore: null, tokensAfter: null, tokenizer: null };

type Counted = Awaited<ReturnType<TokenCounter['countEach']>>;

/**
 * Tokens of all tools, and of those that were sent, the search tool among them; `kept` is null where the request was
 * left as it is.
 */
async function tokensIn(
  counting: Promise<readonly [Counted, { readonly tokens: number }]>,
  kept: readonly number[] | null,
): Promise<CountedTokens> {
  const [{ counts, tokens: tokensBefore, tokenizer }, searchTool] = await counting;
  if (kept === null) return { tokensBefore, tokensAfter: tokensBefore, tokenizer };
  const tokensAfter = kept.reduce((sum, at) => sum + (counts[at] ?? 0), searchTool.tokens);
  return { tokensBefore, tokensAfter, tokenizer };
}

/** What was decided before a request went to the model. */
export interface TurnStart {
  readonly pipe: DiscoveryReport['pipe'];
  readonly bypass: BypassReason | null;
  /** Indexes of the request’s tools that the model gets, and of the others, in the request’s order. */
  readonly kept: readonly number[];
  readonly deferred: readonly number[];
  /** To be put behind the kept tools; null for none. */
  readonly searchTool: SearchTool | null;
  /** Whether the provider’s own search finds those that are left out; null where the settings do not ask for it. */
  readonly nativeSearch: NativeSearchAt | null;
  /** What `hybrid` went by; null where it was not asked for. */
  readonly meanings: MeaningsWay | null;
  /** Whether earlier requests of the session have left tools out that a search may find. */
  readonly hasSession: boolean;
  readonly shadow: readonly number[] | null;
  readonly chooseMs: number;
}

/** A list that is repeated is the same object, and so is this. */
const known = new WeakMap<readonly RequestTool[], readonly DeferredTool[]>();

function deferrable(tools: readonly RequestTool[], wire: string): readonly DeferredTool[] {
  const before = known.get(tools);
  if (before !== undefined && before[0]?.wire === wire) return before;
  const made = tools.map(({ name, raw }) => ({ name, wire, raw }));
  known.set(tools, made);
  return made;
}

/** Discovery of one request, from the choice of its tools to its end. */
export class DiscoveryTurn {
  private readonly searches: SearchReport[] = [];
  private readonly shown: Set<string>;
  private readonly expanded = new Set<string>();
  private remembered = false;
  private ended = false;

  constructor(
    private readonly parts: TurnParts,
    private readonly settings: DiscoveryPipe | null,
    private request: DiscoveryRequest,
    readonly start: TurnStart,
  ) {
    this.shown = new Set(this.keptNames);
  }

  /** True where the request goes to the model to the byte as it came. */
  get unchanged(): boolean {
    return this.start.deferred.length === 0 && this.start.searchTool === null;
  }

  /** Names of the tools that the model gets at first. */
  get keptNames(): readonly string[] {
    return this.start.kept.map((index) => this.request.tools[index]?.name ?? '');
  }

  /** Answers a call of the search tool. Rejects with nothing but the reason of an aborted signal. */
  async search(query: string, signal?: AbortSignal): Promise<SearchAnswer> {
    const { settings } = this;
    if (settings === null) throw new Error('A request without discovery has no search.');
    if (query.length > longestSearch) {
      this.note({ query, matched: [], by: 'too_long', failOpen: null });
      return { added: [], text: tooLongText(query.length) };
    }
    const candidates = await this.candidates();
    const { order, by, failOpen } = await this.found(candidates, query, settings, signal);
    const tools = order.flatMap((index) => candidates[index] ?? []);
    this.searches.push({ query, matched: tools.map(({ tool }) => tool.name), by, failOpen });
    const added = tools.filter(({ tool }) => !this.shown.has(tool.name));
    for (const { tool } of tools) {
      this.shown.add(tool.name);
      this.expanded.add(tool.name);
    }
    this.remembered = false;
    // Before the client has its answer: its next request needs what was found.
    await this.remember((key, added) => inTime(this.parts.sessions.note(key, added)));
    return {
      added: added.map(({ deferred }) => deferred),
      text: searchResultText(
        query,
        tools.map(({ tool }) => tool),
      ),
    };
  }

  /** Notes a search that the provider answered. */
  answered(query: string, found: readonly string[]): void {
    this.note({ query, matched: found, by: 'provider', failOpen: null });
  }

  /** Notes a search that was answered elsewhere. */
  note(search: SearchReport): void {
    this.searches.push(search);
  }

  /** Notes how the request ended, once. Never rejects; the client’s answer need not wait for it. */
  async end(outcome: DiscoveryOutcome): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    await this.finish(outcome).catch((error: unknown) => {
      this.parts.warn({ error: (error as Error).message }, 'what discovery did could not be written');
    });
  }

  /** Notes that the changed request could not be written, so that the original one goes to the model. */
  failed(): DiscoveryTurn {
    const kept = this.request.tools.map((_, index) => index);
    const start = {
      ...this.start,
      bypass: 'failed' as const,
      kept,
      deferred: [],
      searchTool: null,
      nativeSearch: null,
    };
    return new DiscoveryTurn(this.parts, this.settings, this.request, start);
  }

  private async finish({ rounds, called }: DiscoveryOutcome): Promise<void> {
    const names = [...new Set(called)];
    if (this.start.pipe === 'tool_discovery' && this.start.bypass !== 'passthrough' && !this.remembered)
      await this.remember((key, added) => this.parts.sessions.noteSoon(key, added));
    await this.noteHabits(names);
    const report = this.reportOf(rounds, names);
    const counting = this.tokens();
    // Many lists may wait to be counted, and what was read of them takes more than their texts.
    this.request = { ...this.request, tools: [] };
    this.parts.report({ ...report, ...(await counting), at: this.parts.clock.now() });
  }

  private async noteHabits(called: readonly string[]): Promise<void> {
    const { request, settings, start } = this;
    if (settings?.recent !== true || start.pipe !== 'tool_discovery' || called.length === 0) return;
    const own = new Set(request.tools.map(({ name }) => name));
    await this.parts.habits.note(
      request.tenantId,
      called.filter((name) => own.has(name)),
    );
  }

  private reportOf(
    rounds: number,
    called: readonly string[],
  ): Omit<DiscoveryReport, 'tokensBefore' | 'tokensAfter' | 'tokenizer' | 'at'> {
    const { request, start, settings } = this;
    const first = new Set(called.length === 0 ? [] : this.keptNames);
    const { shadow } = start;
    const beside = new Set(shadow?.map((index) => request.tools[index]?.name ?? ''));
    return {
      ...{ source: request.source, requestId: request.requestId, sessionId: request.sessionId },
      ...{ iteration: request.iteration, configVersion: request.configVersion },
      ...{ tenantId: request.tenantId, wire: request.wire, model: request.model },
      ...{ pipe: start.pipe, strategy: settings?.strategy ?? 'passthrough', bypass: start.bypass },
      ...{ totalTools: request.tools.length, keptTools: start.kept.length, deferredTools: start.deferred.length },
      ...{ nativeSearch: start.nativeSearch, meanings: start.meanings },
      ...{ searches: this.searches, rounds, called },
      calledDeferred: called.filter((name) => !first.has(name)).length,
      chooseMs: start.chooseMs,
      shadow:
        shadow === null || settings === null || settings.shadow === null
          ? null
          : { strategy: settings.shadow, kept: [...beside], missed: called.filter((name) => !beside.has(name)) },
    };
  }

  private tokens(): Promise<CountedTokens> {
    const { parts, request, start } = this;
    if (start.pipe !== 'tool_discovery' || isUnread(start.bypass)) return Promise.resolve(uncounted);
    const { counter } = parts;
    const kept = this.unchanged ? null : start.kept;
    const searchTool = start.searchTool === null ? [] : [JSON.stringify(start.searchTool)];
    const counting = Promise.all([
      counter.countEach(request.tools, request.model),
      counter.count(searchTool, request.model),
    ]);
    return tokensIn(counting, kept).catch((error: unknown) => {
      parts.warn({ error: (error as Error).message }, 'the tokens of tools could not be counted');
      return uncounted;
    });
  }

  /** Never rejects. */
  private async remember(note: (key: string, added: SessionNote) => Promise<unknown>): Promise<void> {
    const { request, start } = this;
    // Of what its own search finds, the provider’s part of the conversation tells.
    if (start.nativeSearch === 'provider') return;
    if (request.session === null || (start.deferred.length === 0 && this.expanded.size === 0)) return;
    const isAny = start.deferred.length > 0;
    const tools = isAny ? deferrable(request.tools, request.wire) : [];
    try {
      await note(request.session, { tools, shown: isAny ? start.kept : [], expanded: [...this.expanded] });
      this.remembered = true;
    } catch (error) {
      this.parts.warn({ error: (error as Error).message }, 'a session of tool discovery could not be written');
    }
  }

  /**
   * All tools that a search may find: the request’s, and those of the session that it does not hold; in the request’s
   * order first.
   */
  private async candidates(): Promise<readonly { readonly tool: OfferedTool; readonly deferred: DeferredTool }[]> {
    const { tools, wire, isAllowed = () => true } = this.request;
    const all = deferrable(tools, wire);
    const first = new Map<string, { readonly tool: OfferedTool; readonly deferred: DeferredTool }>();
    tools.forEach((tool, at) => {
      const deferred = all[at];
      if (deferred !== undefined && !first.has(tool.name)) first.set(tool.name, { tool, deferred });
    });
    const own = new Set(first.keys());
    for (const deferred of await this.leftOut(all)) {
      if (deferred.wire !== wire || own.has(deferred.name) || !isAllowed(deferred.name)) continue;
      const tool = this.readDeferred(deferred);
      if (tool !== null) first.set(deferred.name, { tool, deferred });
    }
    return [...first.values()];
  }

  /** What earlier requests of the session left out; none where it cannot be read. */
  private async leftOut(tools: readonly DeferredTool[]): Promise<readonly DeferredTool[]> {
    const { parts, request, start } = this;
    if (request.session === null || !start.hasSession) return [];
    try {
      return (await inTime(parts.sessions.find(request.session, tools))).deferred;
    } catch (error) {
      parts.warn({ error: (error as Error).message }, 'a session of tool discovery could not be read');
      return [];
    }
  }

  private readDeferred({ name, raw }: DeferredTool): OfferedTool | null {
    try {
      const [tool] = readTools([JSON.parse(raw)]);
      if (tool?.name === name) return tool;
    } catch {
      // Said below.
    }
    this.parts.warn({ tool: name }, 'the definition of a tool that was left out cannot be read, so no search finds it');
    return null;
  }

  private async found(
    candidates: readonly { readonly tool: OfferedTool }[],
    query: string,
    settings: DiscoveryPipe,
    signal: AbortSignal | undefined,
  ): Promise<Pick<SearchReport, 'by' | 'failOpen'> & { readonly order: readonly number[] }> {
    const tools = candidates.map(({ tool }) => tool);
    const { maxSearchResults: maxResults, alwaysKeep, api } = settings;
    // Where nothing is asked for, a service has nothing to go by.
    if (settings.strategy !== 'api' || query.trim() === '') {
      const { by, matches, kept } = await searchTools(tools, query, { maxResults, alwaysKeep: new Set(alwaysKeep) });
      return { by, order: [...matches, ...kept], failOpen: null };
    }
    const key = api.apiKeyEnv === null ? undefined : this.parts.secret(api.apiKeyEnv);
    const answer = await askSelector(api, key, { pattern: query, topK: maxResults, alwaysKeep, tools }, signal);
    if (answer.failOpen === null) return { by: 'api', order: answer.selected, failOpen: null };
    this.parts.warn(
      { reason: answer.failOpen },
      'the service that selects tools did not answer as it should, so a search gave all tools',
    );
    return { by: 'all', order: tools.map((_, index) => index), failOpen: answer.failOpen };
  }
}
