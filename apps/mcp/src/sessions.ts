import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  isInitializeRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { Fault, isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue, PassedOnList } from '@sluice/core';
import type { WatchedResource } from '@sluice/contracts';
import { cancelRun } from '@sluice/run';
import {
  idempotencyKeyOf,
  isCall,
  isInitialize,
  isTaskCall,
  nothingHeard,
  parseEventId,
  requestIdOf,
} from '@sluice/mcp';
import type { HeardAnswer } from '@sluice/mcp';
import { callerIn } from './callers.js';
import type { Caller } from './callers.js';
import { taskNotification } from './connection.js';
import type { Connection } from './connection.js';
import { createServer } from './create-server.js';
import { Exchange } from './exchange.js';
import type { Given } from './exchange.js';
import { KeptRequests } from './kept-requests.js';
import { keptValue } from './kept-values.js';
import type { ServerParts } from './server-parts.js';
import { SessionRecords } from './session-records.js';
import type { OpenSession } from './session-records.js';
import { SessionTurns } from './session-turns.js';
import { StandingStreams } from './standing-streams.js';

/** A session with a call under way is in use, which is noted so often, in milliseconds. */
const busyMs = 60_000;
/** How long the answer of a client to a question is kept, in milliseconds. */
const replyMs = 15 * 60_000;
/** What a client may say of itself with `initialize`, in bytes. */
const mostOfClient = 16_384;

/** What a request is served by, beside its message. */
interface Served {
  readonly stream: string | null;
  readonly heard: HeardAnswer;
  readonly isResumed: boolean;
}

const notResumable: Served = { stream: null, heard: nothingHeard, isResumed: false };

/**
 * The sessions of the older era (2025-11-25 and before). What a session is stands in the ledger’s database, so each of
 * its requests can come to another replica, and behind a restart: here are the requests under way, and open streams.
 */
export class Sessions {
  private readonly records: SessionRecords;
  private readonly requests: KeptRequests;
  private readonly streams: StandingStreams;
  private readonly turns: SessionTurns;
  private readonly exchanges = new Map<Exchange, OpenSession>();
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly parts: ServerParts) {
    const { runtime } = parts;
    this.records = new SessionRecords(runtime);
    this.requests = new KeptRequests(runtime);
    this.streams = new StandingStreams(runtime, parts.watches);
    this.turns = new SessionTurns(runtime);
    this.timer = setInterval(() => void this.tick().catch(() => undefined), busyMs);
    this.timer.unref();
  }

  /** Serves a request of the older era: in its session, or as the beginning of one. */
  async serve(request: Request, given: Given, maxBytes: number): Promise<Response> {
    try {
      return await this.served(request, given, maxBytes);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'ledger_unreachable') throw error;
      this.parts.runtime.log.warn({ error: error.message }, 'an MCP client waits for the sessions');
      const away = 'This server cannot read its sessions now. Try again in a moment.';
      return problem(503, -32_000, away, { 'retry-after': '5' });
    }
  }

  /** Says to every client with a stream here that its lists may be others now. */
  listsChanged(): void {
    this.streams.listsChanged();
  }

  /** Says to them that a list of an upstream server is another one. */
  listChanged(list: PassedOnList): void {
    this.streams.listChanged(list);
  }

  /** Says to those who subscribed to the resource that it changed. */
  resourceUpdated(updated: WatchedResource): void {
    this.streams.resourceUpdated(updated);
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.streams.close();
    // Calls that are followed no further here end by themselves, and their clients hear where to go on.
    for (let n = 0; n < 20 && this.exchanges.size > 0; n++) await delay(50);
    await Promise.allSettled([...this.exchanges.keys()].map((exchange) => exchange.end()));
  }

  private async served(request: Request, given: Given, maxBytes: number): Promise<Response> {
    const { principal } = callerIn(given.authInfo);
    const { mcpSessionEvents: events } = this.parts.runtime.metrics;
    const id = request.headers.get('mcp-session-id');
    // A client may begin again with the id of a session that ended.
    if (isInitialize(given.parsedBody ?? null)) return this.begin(request, given, maxBytes);
    if (id === null) {
      if (request.method !== 'POST') return problem(400, -32_000, 'The header `mcp-session-id` is missing.');
      // The SDK says what is wrong with it.
      const none = { sessionIdGenerator: randomUUID, maxRequestBodySize: maxBytes };
      return new WebStandardStreamableHTTPServerTransport(none).handleRequest(request, given);
    }
    const session = await this.records.find(id, principal);
    // Of another one’s session nothing is said, not even that it is there.
    if (session === null) {
      events.inc({ event: 'unknown' });
      return problem(404, -32_001, 'There is no such session, or it expired. Initialize a new one.');
    }
    if (request.method === 'POST') return this.post(request, given, session, maxBytes);
    const wrong = revisionProblem(request);
    if (wrong !== null) return wrong;
    return request.method === 'DELETE' ? this.end(session) : this.get(request, given, session, maxBytes);
  }

  private async begin(request: Request, given: Given, maxRequestBodySize: number): Promise<Response> {
    const { principal } = callerIn(given.authInfo);
    const { mcpSessionEvents: events } = this.parts.runtime.metrics;
    const { parsedBody } = given;
    const begun = isInitializeRequest(parsedBody) ? ofClient(parsedBody.params as unknown as JsonObject) : null;
    const first = { id: randomUUID(), key: '', principal, begun: begun ?? {}, revision: '', level: null };
    const exchange = this.exchange(first, notResumable, maxRequestBodySize);
    const server = createServer(this.parts, this.connection(first, notResumable));
    if (begun === null) {
      await server.connect(exchange);
      const refused = await exchange.handle(request, given);
      refused.headers.delete('mcp-session-id');
      return refused;
    }
    if (Buffer.byteLength(JSON.stringify(begun)) > mostOfClient) {
      await exchange.end();
      return problem(400, -32_602, `What a client says of its capabilities may have ${mostOfClient} bytes.`);
    }
    const revision = revisionIn(await exchange.connect(server, begun));
    const displaced = await this.records.begin({ ...first, revision });
    if (displaced === null) {
      await exchange.end();
      const full = 'This tenant has as many sessions as it may have. Try again in a moment.';
      return problem(503, -32_000, full, { 'retry-after': '5' });
    }
    events.inc({ event: 'begun' });
    if (displaced > 0) events.inc({ event: 'displaced' }, displaced);
    void this.count().catch(() => undefined);
    return exchange.handle(request, given);
  }

  private async post(request: Request, given: Given, session: OpenSession, maxBytes: number): Promise<Response> {
    const stream = await this.requests.keep(session, given.parsedBody);
    const response = await this.serveIn(session, request, given, maxBytes, { ...notResumable, stream });
    // The SDK found nothing wrong with them.
    if (response.status === 202) await this.passOn(given.parsedBody ?? null, session, callerIn(given.authInfo));
    return response;
  }

  private async get(request: Request, given: Given, session: OpenSession, maxBytes: number): Promise<Response> {
    const { mcpSessionEvents: events } = this.parts.runtime.metrics;
    if (!(request.headers.get('accept') ?? '').includes('text/event-stream'))
      return problem(406, -32_000, 'Not acceptable: a stream is `text/event-stream`.');
    const lastId = request.headers.get('last-event-id');
    const last = lastId === null ? null : parseEventId(lastId);
    if (lastId !== null && last === null) return problem(400, -32_000, 'This server wrote no such `Last-Event-ID`.');
    if (last !== null) events.inc({ event: last.kind === 'answer' ? 'answer_resumed' : 'stream_resumed' });
    if (last?.kind !== 'answer') return this.streams.stream(session, last, callerIn(given.authInfo).claims);
    const message = await this.requests.find(session, last.stream);
    if (message === null) return problem(400, -32_000, 'The request of this stream is no longer kept. Make it again.');
    const again = new Request(request.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': session.id,
        'mcp-protocol-version': session.revision,
      },
      body: '{}',
    });
    const served = { stream: last.stream, heard: last.heard, isResumed: true };
    return this.serveIn(session, again, { ...given, parsedBody: message }, maxBytes, served);
  }

  private async end(session: OpenSession): Promise<Response> {
    await this.records.end(session);
    await this.streams.forget(session);
    const own = [...this.exchanges].filter(([, { key }]) => key === session.key);
    await Promise.allSettled(own.map(([exchange]) => exchange.end()));
    this.parts.runtime.metrics.mcpSessionEvents.inc({ event: 'ended' });
    void this.count().catch(() => undefined);
    return new Response(null, { status: 200 });
  }

  private async serveIn(
    session: OpenSession,
    request: Request,
    given: Given,
    maxBytes: number,
    served: Served,
  ): Promise<Response> {
    const exchange = this.exchange(session, served, maxBytes, given.parsedBody);
    await exchange.connect(createServer(this.parts, this.connection(session, served)), session.begun);
    return exchange.handle(request, given);
  }

  private exchange(
    session: OpenSession,
    { stream, heard }: Served,
    maxRequestBodySize: number,
    message: JsonValue | null = null,
  ): Exchange {
    const exchange = new Exchange({
      ...{ session: session.id, revision: session.revision, maxRequestBodySize, stream, heard },
      say: (said) => this.streams.post(session, said),
      replyTo: async (id) => (await keptValue<JsonObject>(this.parts.runtime, replyKey(session, id)))?.value ?? null,
      onEnd: (ended) => {
        if (!this.exchanges.delete(ended) || stream === null || !isJsonObject(message)) return;
        void this.requests.answered(session, stream, message).catch(() => undefined);
        // The end of a call counts as use of its session.
        void this.records.use(session).catch(() => undefined);
      },
    });
    this.exchanges.set(exchange, session);
    return exchange;
  }

  private connection(session: OpenSession, { isResumed, heard }: Served): Connection {
    return {
      session: session.id,
      inTurn: this.turns.of(session.key),
      // The state of this era is the session’s own.
      callerOf: (context) => ({ ...callerIn(context.http?.authInfo), state: null }),
      hasUniqueIds: true,
      isResumed,
      heardProgress: heard.progress,
      level: session.level,
      keepLevel: (level) => this.records.keepLevel(session, level),
      tasks: { say: (task) => this.streams.post(session, { jsonrpc: '2.0', ...taskNotification(task) }) },
      subscriptions: this.streams.subscriptionsOf(session),
    };
  }

  /** What a client says to requests under way, which may be at any replica. */
  private async passOn(body: JsonValue, session: OpenSession, caller: Caller): Promise<void> {
    for (const message of Array.isArray(body) ? body : [body]) {
      if (!isJsonObject(message)) continue;
      if (message['method'] === undefined) await this.reply(message, session);
      else if (message['method'] === 'notifications/cancelled') await this.cancel(message, session, caller);
    }
  }

  private async reply(message: JsonObject, session: OpenSession): Promise<void> {
    const { documents, clock } = this.parts.runtime;
    const key = replyKey(session, String(message['id']));
    // The first answer counts.
    await documents.put(key, 1, JSON.stringify(message), clock.now() + replyMs);
    for (const exchange of this.of(session)) exchange.reply(message);
  }

  private async cancel(message: JsonObject, session: OpenSession, { principal }: Caller): Promise<void> {
    const { params } = message;
    const id = isJsonObject(params ?? null) ? ((params as JsonObject)['requestId'] ?? null) : null;
    const here = this.of(session).filter((exchange) => exchange.has(id));
    for (const exchange of here) exchange.cancel(message);
    if (here.length > 0) return;
    const request = await this.requests.named(session, id);
    // A task is cancelled by its own name.
    if (request === null || !isCall(request) || isTaskCall(request)) return;
    const given = idempotencyKeyOf(request);
    const key = { kind: given === null ? 'message' : 'key', text: given ?? JSON.stringify(id) } as const;
    await cancelRun(requestIdOf(session.id, principal, key), principal, '', this.parts.runtime);
  }

  private of(session: OpenSession): readonly Exchange[] {
    return [...this.exchanges].flatMap(([exchange, { key }]) => (key === session.key ? [exchange] : []));
  }

  private async tick(): Promise<void> {
    const busy = new Map([...this.exchanges.values()].map((session) => [session.key, session]));
    await Promise.allSettled([...busy.values()].map((session) => this.records.use(session)));
    await this.count();
  }

  private async count(): Promise<void> {
    this.parts.runtime.metrics.mcpSessions.set(await this.records.count());
  }
}

function replyKey({ key }: OpenSession, id: string): string {
  return `mcp/reply/${key}/${id}`;
}

/** What a session keeps of what its client says with `initialize`. */
function ofClient({ protocolVersion = '', capabilities = {}, clientInfo }: JsonObject): JsonObject {
  const { name, version } = isJsonObject(clientInfo ?? null) ? (clientInfo as JsonObject) : {};
  const short = (text: JsonValue | undefined): string => String(text ?? '').slice(0, 200);
  return { protocolVersion, capabilities, clientInfo: { name: short(name), version: short(version) } };
}

function revisionIn(answer: JSONRPCMessage): string {
  if (!('result' in answer)) throw new Error('The server did not answer to initialize.');
  return String((answer.result as { readonly protocolVersion?: unknown }).protocolVersion);
}

function revisionProblem(request: Request): Response | null {
  const revision = request.headers.get('mcp-protocol-version');
  if (revision === null || SUPPORTED_PROTOCOL_VERSIONS.includes(revision)) return null;
  return problem(400, -32_000, `There is no revision ${revision.slice(0, 32)} of the protocol here.`);
}

/** A refusal of the transport, as JSON-RPC has it. */
export function problem(
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}
