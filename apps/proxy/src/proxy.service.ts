import type { IncomingMessage, ServerResponse } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { Authenticator, ProxyApi, UpstreamSettings } from '@sluice/core';
import {
  AUTHENTICATOR,
  hostOf,
  hostProblem,
  isLoopback,
  otherMachine,
  peerOf,
  RUNTIME,
  VerifiedCallers,
} from '@sluice/host';
import type { UnreadReason } from '@sluice/discovery';
import type { Runtime } from '@sluice/host';
import {
  apiOf,
  callerHeader,
  type Endpoint,
  endpointOf,
  errorBody,
  failureStatus,
  historyWire,
  isWorthAnother,
  plainTarget,
  type ProxyFailure,
  readModel,
  routesByModel,
  type Target,
  targetsOf,
  unreadHeader,
  withBodyModel,
  withModel,
} from '@sluice/proxy';
import { TokenCounter } from '@sluice/tokens';
import { CalledTools } from './called-tools.js';
import { clientRequest, type ClientRequest, passedBody, readableBody, type RequestBody } from './client-request.js';
import { Credentials } from './credentials.js';
import { type Plan, Planner, Unreadable } from './planner.js';
import type { KnownCaller } from './rights.js';
import { sendScreened } from './screened.js';
import { sendAnswer, sendRefusal } from './send.js';
import { type Answer, type Sending, UpstreamFailure, Upstreams } from './upstreams.js';

/** Forwards a client’s request to the upstream that the configuration says, and its answer back. */
@Injectable()
export class ProxyService {
  private readonly callers: VerifiedCallers;
  private readonly credentials: Credentials;
  private readonly upstreams: Upstreams;
  private readonly planner: Planner;
  private readonly endings = new Set<Promise<void>>();

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(AUTHENTICATOR) authenticator: Authenticator,
    @Inject(TokenCounter) counter: TokenCounter,
  ) {
    this.callers = new VerifiedCallers(runtime, authenticator);
    this.credentials = new Credentials((variable) => runtime.environment.secret(variable));
    this.upstreams = new Upstreams(this.credentials);
    this.planner = new Planner(runtime, counter);
  }

  async close(): Promise<void> {
    await Promise.all(this.endings);
    await this.planner.close();
    await this.upstreams.close();
  }

  /** Never throws: whatever happens, the client has an answer or a closed connection. */
  async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const given = clientRequest(incoming);
    const target = plainTarget(given.method, given.target);
    if (target === null) {
      const api = apiOf(given.target, (name) => given.header(name));
      this._refuse(outgoing, api, 'unreadable', notPlain, null);
      return;
    }
    const request = { ...given, target };
    const endpoint = endpointOf(request.method, request.target);
    const api = endpoint?.api ?? apiOf(request.target, (name) => request.header(name));
    const cancel = new AbortController();
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) cancel.abort(new Error('The client has gone.'));
    });
    const { proxyOpen } = this.runtime.metrics;
    proxyOpen.inc();
    try {
      await this.exchange({ incoming, outgoing, request, endpoint, api, signal: cancel.signal });
    } catch (error) {
      if (cancel.signal.aborted) return;
      if (error instanceof Unreadable)
        this._refuse(outgoing, api, 'unreadable', error.message, null, unreadHeaders(error.reason));
      else if (error instanceof UpstreamFailure) this._refuse(outgoing, api, error.kind, error.message, error.upstream);
      else {
        this.runtime.log.error({ err: error }, 'the proxy could not handle a request');
        this._refuse(outgoing, api, 'unreachable', 'The proxy could not handle this request.', null);
      }
    } finally {
      proxyOpen.dec();
    }
  }

  /** Refuses a request that is not looked at any further. */
  refuse(incoming: IncomingMessage, outgoing: ServerResponse, reason: string): void {
    const request = clientRequest(incoming);
    const api = apiOf(request.target, (name) => request.header(name));
    this._refuse(outgoing, api, 'refused', reason, null);
  }

  private async exchange(exchange: Exchange): Promise<void> {
    const { incoming, outgoing, request, endpoint, api, signal } = exchange;
    const settings = this.runtime.configurations.current().configuration.proxy;
    if (settings === undefined) {
      this._refuse(outgoing, api, 'no_upstream', 'No upstream is configured: write one into `proxy.upstreams`.', null);
      return;
    }
    const history = this.planner.hidesRounds ? historyWire(request.method, request.target) : null;
    const isRead = endpoint !== null || history !== null;
    const body = isRead ? await readableBody(incoming, request) : passedBody(incoming);
    const model =
      endpoint?.model?.name ?? (routesByModel(settings) && body.plain !== null ? readModel(body.plain) : null);
    const targets = targetsOf(settings, { api, path: request.target, model });
    const [first] = targets;
    if (first === undefined) {
      this._refuse(outgoing, api, 'no_upstream', 'No upstream of `proxy.upstreams` fits this path and model.', null);
      return;
    }
    const from = { address: peerOf(incoming.socket, this.runtime.environment), host: hostOf(incoming.headers) };
    const caller = await this.callerOf(request, from, first.upstream);
    if (caller instanceof Refused) {
      this._refuse(outgoing, api, 'refused', caller.message, first.upstream);
      return;
    }
    const plan =
      endpoint === null
        ? null
        : await this.planner.plan(endpoint, body, caller, {
            ...{ client: request, signal },
            models: targets.map((one) => one.model),
          });
    if (endpoint === null || plan === null) {
      const text = history === null ? null : await this.planner.history(history, body, caller, request);
      const given = { body, text, isRead: false, beta: null, signal, targets };
      return sendAnswer(outgoing, (await this.ask(request, endpoint, given)).answer);
    }
    let called: readonly string[] = [];
    try {
      called = await this.planned(exchange, { endpoint, plan, targets, body });
    } finally {
      this.end(plan, called);
    }
  }

  /** The names of the tools that an answer called which passed as it came; those of others the loop knows. */
  private async planned(
    { outgoing, request, signal }: Exchange,
    { endpoint, plan, targets, body }: Planned,
  ): Promise<readonly string[]> {
    const { loop, searchTool, native, toolList, isWatched, unread, settled } = plan;
    const isScreened = searchTool !== null || native !== null;
    const { meanings } = plan.turn.start;
    const added = { ...unreadHeaders(unread), ...(meanings === null ? {} : { [meaningsHeader]: meanings }) };
    const beta = native?.betaHeader ?? null;
    const text = loop?.request() ?? plan.body;
    const given = { body, text, isRead: isScreened, beta, signal };
    const { answer, target } = await this.ask(request, endpoint, { ...given, targets });
    if (loop === null || !isScreened) {
      const tools = isWatched ? new CalledTools(endpoint.wire, answer) : null;
      const see = tools === null ? null : (chunk: Buffer): void => tools.see(chunk);
      await sendAnswer(outgoing, answer, { see, added });
      return (await tools?.names()) ?? [];
    }
    await sendScreened(outgoing, answer, {
      ...{ wire: endpoint.wire, loop, signal, added },
      screening: { searchTool, tools: toolList },
      again: async (next) => {
        // The client’s own body is not kept for as long as its answer takes.
        const once = { body: nothingRead, text: next, isRead: isScreened, beta, signal, targets: [target] };
        return (await this.ask(request, endpoint, once)).answer;
      },
      settled,
      broken: ({ upstream }) => {
        this.runtime.metrics.proxyRequests.inc({ upstream: upstream.id, status: 'broken_off' });
      },
    });
    return [];
  }

  /** The client does not wait for what is noted of its request; the end of the process does. */
  private end({ turn, loop }: Plan, called: readonly string[]): void {
    const ending = turn.end({ rounds: loop?.rounds ?? 0, called: [...(loop?.called ?? []), ...called] });
    this.endings.add(ending);
    void ending.finally(() => this.endings.delete(ending));
  }

  /** Asks one upstream after the other, until one answers with something else than that it cannot. */
  private async ask(
    request: ClientRequest,
    endpoint: Endpoint | null,
    given: Outbound,
  ): Promise<{ readonly answer: Answer; readonly target: Target }> {
    const { targets, text, isRead, beta, signal } = given;
    const { raw, plain } = given.body;
    const changed = text === null ? null : Buffer.from(text);
    const { metrics } = this.runtime;
    for (const [at, target] of targets.entries()) {
      // A body that is too long to be kept can be sent once.
      const isLast = at === targets.length - 1 || (changed === null && raw !== null && !Buffer.isBuffer(raw));
      const path =
        target.model === null || endpoint === null ? request.target : withModel(request.target, endpoint, target.model);
      const readable = changed ?? plain;
      const isNamed = target.model !== null && endpoint?.model === null && readable !== null;
      const written = isNamed ? withBodyModel(readable, target.model) : changed;
      const began = performance.now();
      const label = { upstream: target.upstream.id };
      try {
        const sending = { target, path, body: written ?? raw, isChanged: written !== null, isRead, beta, signal };
        const answer = await this.upstreams.send(request, sending);
        metrics.proxyFirstByte.observe(label, (performance.now() - began) / 1_000);
        metrics.proxyRequests.inc({ ...label, status: String(answer.status) });
        if (isLast || !isWorthAnother(answer.status)) return { answer, target };
        // Read to its end, so that the connection can be used again; an answer of this kind is short.
        answer.body.resume();
        answer.body.on('error', () => undefined);
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error;
        metrics.proxyRequests.inc({ ...label, status: error.kind });
        if (isLast) throw error;
      }
      metrics.proxyFallbacks.inc(label);
    }
    throw new Error('There is no target.');
  }

  /** Who asks, where Sluice’s own credential is used or the caller says who it is; null where nothing is known. */
  private async callerOf(
    request: ClientRequest,
    from: { readonly address: string | undefined; readonly host: string | undefined },
    upstream: UpstreamSettings,
  ): Promise<KnownCaller | Refused | null> {
    const { identity } = this.runtime.configurations.current().configuration;
    const isOwn = this.credentials.isOwn(upstream);
    if (identity.provider === 'none') {
      if (isOwn && !isLoopback(from.address)) return new Refused(otherMachine);
      const foreign = isOwn ? hostProblem(from.host, this.runtime.environment) : null;
      if (foreign !== null) return new Refused(foreign);
      if (isOwn && request.header('origin') !== undefined) return new Refused(noPages);
      return null;
    }
    const said = request.header(callerHeader);
    if (said === undefined && !isOwn) return null;
    const key = request.header('x-api-key') ?? request.header('x-goog-api-key');
    const credential = said ?? request.header('authorization') ?? (key === undefined ? undefined : `Bearer ${key}`);
    const sender = await this.callers.verify(credential);
    return sender.ok ? { principal: sender.principal, claims: sender.claims } : new Refused(sender.message);
  }

  private _refuse(
    outgoing: ServerResponse,
    api: ProxyApi,
    failure: ProxyFailure,
    message: string,
    upstream: UpstreamSettings | null,
    added: Readonly<Record<string, string>> = {},
  ): void {
    if (upstream === null || failure === 'refused')
      this.runtime.metrics.proxyRequests.inc({ upstream: upstream?.id ?? '', status: failure });
    sendRefusal(outgoing, { status: failureStatus[failure], body: errorBody(api, failure, message), api, added });
  }
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly request: ClientRequest;
  readonly endpoint: Endpoint | null;
  readonly api: ProxyApi;
  readonly signal: AbortSignal;
}

/** What is sent to an upstream: the client’s body, or a text in its place. */
interface Outbound extends Pick<Sending, 'isRead' | 'beta' | 'signal'> {
  readonly body: RequestBody;
  readonly text: string | null;
  readonly targets: readonly Target[];
}

interface Planned {
  readonly endpoint: Endpoint;
  readonly plan: Plan;
  readonly targets: readonly Target[];
  readonly body: RequestBody;
}

/** Says what `hybrid` went by. */
const meaningsHeader = 'x-sluice-meanings';

/** Says why a body was not read. */
function unreadHeaders(reason: UnreadReason | null): Readonly<Record<string, string>> {
  return reason === null ? {} : { [unreadHeader]: reason };
}

class Refused {
  constructor(readonly message: string) {}
}

const nothingRead: RequestBody = { raw: null, plain: null, unread: null };

const notPlain =
  'The path of this request can be read as more than one. Write it plainly, such as `/v1/chat/completions`: without `..` and `#`, and with a slash encoded in a model’s name alone.';
const noPages =
  'Without an identity in the configuration no page in a browser may ask with Sluice’s key. Ask from a server of yours, which sends no header `origin`, or configure an identity.';
