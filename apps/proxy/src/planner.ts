import { hash, randomUUID } from 'node:crypto';
import type { NativeSearchSettings } from '@sluice/core';
import {
  AnswerIds,
  Discovery,
  discoveryRecord,
  type DiscoveryTurn,
  HiddenRounds,
  queryOf,
  sessionKey,
  type SessionOwner,
  type UnreadReason,
} from '@sluice/discovery';
import { DiscoveryRecords, LoadWatch, type Runtime } from '@sluice/host';
import { SecretSealer } from '@sluice/identity';
import { Embedders } from '@sluice/model';
import {
  conversationId,
  type Endpoint,
  keptRounds,
  type ModelRequest,
  readRequest,
  SearchLoop,
  unreadMessages,
  withHiddenRounds,
  withPreviousAnswer,
} from '@sluice/proxy';
import { pastOfCaller } from '@sluice/run';
import type { Loaded } from '@sluice/run';
import type { TokenCounter } from '@sluice/tokens';
import {
  type Body,
  keepsAnswers,
  type NativeSearch,
  nativeSearchOf,
  type NoNativeSearch,
  roundScreening,
  type WireName,
} from '@sluice/wires';
import type { ClientRequest, RequestBody } from './client-request.js';
import { CredentialOwner } from './credential-owner.js';
import { type KnownCaller, rightsOf } from './rights.js';

/** What is done to the tools of a request. */
export interface Plan {
  readonly turn: DiscoveryTurn;
  /** Null where the request goes on with every byte. */
  readonly loop: SearchLoop | null;
  /** The name of the search tool; null where the model gets none. */
  readonly searchTool: string | null;
  /** The provider’s own search, which stands in for it; null for none. */
  readonly native: NativeSearch | null;
  readonly toolList: string | null;
  /** What is sent in place of the client’s body where no loop writes it; null for that body. */
  readonly body: string | null;
  /**
   * Notes, at the end of an answer, by which id the client knows it and by which its provider does, and the rounds
   * that it sees as one. Never rejects.
   */
  readonly settled: (shownId: string, id: string) => Promise<void>;
  /** Whether it has to be known which tools an answer calls that passes as it comes. */
  readonly isWatched: boolean;
  /** Why the body was not read, so that it passes as it came; null where it was. */
  readonly unread: UnreadReason | null;
}

/** What is known of a request beside its body and its caller. */
interface PlanAt {
  readonly client: ClientRequest;
  readonly signal: AbortSignal;
  readonly models: readonly (string | null)[];
}

const digest = (text: string): string => hash('sha256', text, 'hex');

/** Plans a request’s tools: rights first, where the caller is known, then discovery. */
export class Planner {
  private readonly discovery: Discovery;
  private readonly records: DiscoveryRecords;
  private readonly loads: LoadWatch;
  private readonly answers: AnswerIds;
  private readonly owners: CredentialOwner;
  private readonly rounds: HiddenRounds;

  constructor(
    private readonly runtime: Runtime,
    counter: TokenCounter,
  ) {
    const { clock, documents, environment, log } = runtime;
    const embedders = new Embedders((variable) => environment.secret(variable));
    this.records = new DiscoveryRecords(runtime);
    this.loads = new LoadWatch(runtime);
    const warn = (details: object, message: string): void => {
      log.warn(details, message);
    };
    const secretsKey = environment.secretsKey?.() ?? null;
    const sealer = secretsKey === null ? null : SecretSealer.of(secretsKey);
    this.answers = new AnswerIds(documents, clock, warn);
    this.owners = new CredentialOwner(documents, sealer, warn);
    this.rounds = new HiddenRounds({ documents, clock, digest, seal: sealer, warn });
    this.discovery = new Discovery({
      ...{ documents, clock, digest, counter },
      secret: (variable) => environment.secret(variable),
      embedder: (settings) => embedders.get(settings),
      report: (report) => {
        if (report.pipe === 'tool_discovery') this.records.note(discoveryRecord(report));
      },
      warn,
    });
  }

  /**
   * Null where the request goes on with every byte, and nothing is to be said of it. Throws Unreadable where rights
   * need it read and it cannot be.
   */
  async plan(
    endpoint: Endpoint,
    body: RequestBody,
    caller: KnownCaller | null,
    { client, signal, models }: PlanAt,
  ): Promise<Plan | null> {
    const { pipes } = this.runtime.configurations.current().configuration;
    if (pipes?.toolDiscovery.enabled !== true && caller === null) return null;
    const request = body.plain === null ? null : readRequest(endpoint, body.plain);
    if (request === null) {
      const reason = body.unread ?? 'unreadable';
      // Rights fail closed, the choice of tools does not.
      if (caller !== null) throw new Unreadable(reason);
      return this.unread(endpoint, reason);
    }
    const id = conversationId(request.body, (name) => client.header(name));
    const owner = await this.owners.of(client, caller);
    const [previous, restored] = await Promise.all([
      request.previousAnswer === null ? null : this.answers.find(owner, request.previousAnswer),
      this.restored(owner, endpoint.wire, request.body),
    ]);
    const goesOn = previous === null || previous.id === request.previousAnswer ? null : previous.id;
    const sent = goesOn === null ? restored : withPreviousAnswer(restored ?? request.body, goesOn);
    const session =
      previous?.session ?? sessionKey(owner, { said: request.previousAnswer ?? request.firstSaid, id }, digest);
    const { turn, isAllowed, native } = await this.begin(endpoint, request, { caller, owner, session, models });
    const isWhole = turn.unchanged && request.tools.every(({ name }) => isAllowed(name));
    const begun = { ...planOf(turn, request), body: sent };
    if (isWhole) return begun;
    const { searchTool } = turn.start;
    const kept = new Set(turn.keptNames);
    const isNative = native !== null && turn.start.deferred.length > 0;
    const loop = new SearchLoop({
      wire: endpoint.wire,
      body: sent ?? request.body,
      keepTool: (name) => (isNative ? isAllowed(name) : kept.has(name)),
      native: isNative ? { search: native, deferTool: (name) => !kept.has(name) } : null,
      searchTool:
        searchTool === null
          ? null
          : { name: searchTool.name, description: searchTool.description, inputSchema: { ...searchTool.parameters } },
      search: (args) => turn.search(queryOf(args), signal),
      answered: ({ query, found }) => {
        turn.answered(query, found);
      },
    });
    try {
      loop.request();
    } catch (error) {
      if (caller !== null) throw new Unreadable('unreadable', { cause: error });
      this.runtime.log.warn(
        { error: (error as Error).message },
        'a request with other tools could not be written, so it passes unchanged',
      );
      return { ...planOf(turn.failed(), request), body: sent };
    }
    const isKept = keepsAnswers(endpoint.wire) && request.isKept;
    const settled: Plan['settled'] = async (shownId, id) => {
      const rounds = loop.hiddenRounds === null ? null : keptRounds(loop.hiddenRounds, digest);
      await Promise.all([
        isKept ? this.answers.note(owner, shownId, { id, session }) : null,
        rounds === null ? null : this.rounds.note(owner, rounds),
      ]);
    };
    return { ...begun, loop, searchTool: searchTool?.name ?? null, native: isNative ? native : null, settled };
  }

  /** A conversation with the rounds of its answers in their place; null where it goes on with every byte. */
  async history(
    wire: WireName,
    body: RequestBody,
    caller: KnownCaller | null,
    client: ClientRequest,
  ): Promise<string | null> {
    if (body.plain === null) return null;
    const owner = await this.owners.of(client, caller);
    try {
      return await this.restored(owner, wire, body.plain);
    } catch {
      // It is not of its API, which its provider says in its own words.
      return null;
    }
  }

  /** Whether a conversation may have rounds that its client does not see. */
  get hidesRounds(): boolean {
    return this.runtime.configurations.current().configuration.pipes?.toolDiscovery.enabled === true;
  }

  private restored(owner: SessionOwner, wire: WireName, body: Body): Promise<string | null> {
    return withHiddenRounds(wire, body, (key) => this.rounds.find(owner, key), digest);
  }

  /** The plan for a body that passes unread: nothing is done to it, and the record says why. */
  private unread({ wire, model }: Endpoint, reason: UnreadReason): Plan {
    const { configuration } = this.runtime.configurations.current();
    const turn = this.discovery.unread(
      configuration.pipes,
      {
        ...{ requestId: randomUUID(), sessionId: '', configVersion: configuration.version },
        ...{ tenantId: 'local', wire, model: model?.name ?? '' },
      },
      reason,
    );
    return { turn, ...nothingDone, unread: reason };
  }

  private async rightsOf(
    caller: KnownCaller,
    { decoded: { query: question } }: ModelRequest,
    loaded: Loaded,
  ): Promise<(name: string) => boolean> {
    const { configuration, evaluator } = loaded;
    const now = this.runtime.clock.now();
    const [measured, facts] = await Promise.all([
      this.loads.measured(loaded),
      pastOfCaller(caller.principal, null, evaluator, now, this.runtime.past),
    ]);
    const at = { question, measured: { ...measured, facts }, now };
    return rightsOf(caller, evaluator, configuration.proxy?.unknownTools ?? 'pass', at);
  }

  private async begin(
    { wire, model }: Endpoint,
    request: ModelRequest,
    {
      caller,
      owner,
      session,
      models,
    }: {
      readonly caller: KnownCaller | null;
      readonly owner: SessionOwner;
      readonly session: string;
      readonly models: readonly (string | null)[];
    },
  ): Promise<{
    readonly turn: DiscoveryTurn;
    readonly isAllowed: (name: string) => boolean;
    readonly native: NativeSearch | null;
  }> {
    const loaded = this.runtime.configurations.current();
    const { configuration } = loaded;
    const { pipes } = configuration;
    const isAllowed = caller === null ? () => true : await this.rightsOf(caller, request, loaded);
    const { tenantId } = owner;
    const settings = pipes?.toolDiscovery;
    // A request that is never changed may be of any wire.
    const isChanged = settings !== undefined && settings.strategy !== 'passthrough';
    const name = model?.name ?? request.decoded.model;
    const wanted = settings?.nativeSearch;
    const native =
      wanted === undefined
        ? 'unsupported_wire'
        : nativeFor(
            wire,
            models.map((one) => one ?? name),
            wanted,
          );
    const nativeAt = typeof native === 'string' ? native : 'provider';
    const isNative = wanted !== undefined && nativeAt === 'provider' && settings?.strategy !== 'api';
    const isOneRound = settings?.enableSearchFallback === true && request.oneRound !== null && !isNative;
    const { recentlyUsed, hasToolOutputs, used, forced, isLimited } = request;
    const turn = await this.discovery.begin(pipes, {
      ...{
        source: 'proxy',
        requestId: randomUUID(),
        sessionId: session.slice(session.lastIndexOf('/') + 1),
        iteration: 0,
      },
      ...{ configVersion: configuration.version, tenantId, wire, model: name },
      ...{ tools: allowedOf(request.tools, isAllowed), isAllowed, query: request.question },
      ...{ recentlyUsed, hasToolOutputs, used, forced, takesSearchTool: !isLimited },
      session,
      ...{ nativeSearch: nativeAt, hasOwnSearch: request.hasNativeSearch },
      unsupported: isChanged && (roundScreening(wire) === null || isOneRound),
    });
    const isTaken = typeof native !== 'string' && turn.start.nativeSearch === 'provider';
    return { turn, isAllowed, native: isTaken ? native : null };
  }

  /** To be called when no more requests come. */
  close(): Promise<void> {
    return this.records.close();
  }
}

/** A request of a caller whose rights are known, which cannot be held to them. */
export class Unreadable extends Error {
  constructor(
    readonly reason: UnreadReason,
    options?: ErrorOptions,
  ) {
    super(`The request’s tools cannot be held to what the caller may use. ${unreadMessages[reason]}`, options);
  }
}

/** The very list where it is allowed as a whole: what is known of it is used again. */
function allowedOf(tools: ModelRequest['tools'], isAllowed: (name: string) => boolean): ModelRequest['tools'] {
  return tools.every(({ name }) => isAllowed(name)) ? tools : tools.filter(({ name }) => isAllowed(name));
}

/** The provider’s search, where all models that may be asked have it. */
function nativeFor(
  wire: WireName,
  models: readonly string[],
  { kind, when }: NativeSearchSettings,
): NativeSearch | NoNativeSearch {
  const each = models.map((model) => nativeSearchOf(wire, model, { kind, isSure: when === 'always' }));
  return each.find((one) => typeof one === 'string') ?? each[0] ?? 'unsupported_model';
}

function planOf(turn: DiscoveryTurn, { toolList }: ModelRequest): Plan {
  const { pipe, bypass, shadow } = turn.start;
  const isWatched = pipe === 'tool_discovery' && (bypass === null || shadow !== null);
  return { ...nothingDone, turn, toolList, isWatched };
}

const nothingDone = {
  ...{ loop: null, searchTool: null, native: null, toolList: null, body: null },
  ...{ isWatched: false, unread: null, settled: () => Promise.resolve() },
};
