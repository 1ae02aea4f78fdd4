import { Inject, Injectable } from '@nestjs/common';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import type { AuthInfo, McpHandlerRequestOptions, McpHttpHandler } from '@modelcontextprotocol/server';
import type { Request as HttpRequest, Response as HttpResponse } from 'express';
import { isJsonObject } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import { listChangedIn, resourceUpdatedIn } from '@sluice/contracts';
import { RUNTIME, RunWatch } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { acceptedBy, messageOfClient } from '@sluice/mcp';
import { authInfoOf, callerIn, Callers } from './callers.js';
import { noSession } from './connection.js';
import type { Connection } from './connection.js';
import { createServer } from './create-server.js';
import { InTurn, Turns } from './in-turn.js';
import { ListenStreams } from './listen-streams.js';
import { originProblem, strangerOf } from './loopback.js';
import { PassedOn } from './passed-on.js';
import { challenge } from './protected-resource.js';
import { SERVER_PARTS } from './server-parts.js';
import type { ServerParts } from './server-parts.js';
import { stateSession } from './session-states.js';
import { problem, Sessions } from './sessions.js';

/** Of a message; as JSON a record of the largest size takes somewhat more than on the log. */
const longestMessage = 1_048_576;

/** What the protocol has a use for; fetch cannot even name all others. */
const methods: readonly string[] = ['GET', 'POST', 'DELETE'];

/**
 * The one endpoint for both eras of the protocol: requests of 2026-07-28 stand alone, those before it are of a
 * session.
 */
@Injectable()
export class Endpoint {
  private readonly modern: McpHttpHandler;
  private readonly sessions: Sessions;
  private readonly listens: ListenStreams;
  private readonly turns = new Turns();
  private readonly handle: ReturnType<typeof toNodeHandler>;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(SERVER_PARTS) private readonly parts: ServerParts,
    @Inject(RunWatch) watch: RunWatch,
  ) {
    const onerror = (error: Error): void => runtime.log.debug({ error: error.message }, 'an MCP message was refused');
    this.sessions = new Sessions(parts);
    this.listens = new ListenStreams(parts.watches);
    this.modern = createMcpHandler(({ authInfo }) => createServer(parts, this.connectionOf(authInfo)), {
      ...{ legacy: 'reject', maxRequestBodySize: longestMessage, bus: this.listens, onerror },
    });
    this.handle = toNodeHandler(
      { fetch: (request, options) => this.route(request, options) },
      {
        maxRequestBodySize: longestMessage,
        // A client that leaves in the middle of its request is no fault of this service.
        onerror: ({ message }) =>
          /\baborted$/.test(message)
            ? runtime.log.debug('an MCP client left in the middle of its request')
            : runtime.log.error({ error: message }, 'an MCP request failed'),
      },
    );
    runtime.configurations.onChange(() => {
      this.sessions.listsChanged();
      this.modern.notify.toolsChanged();
      this.modern.notify.resourcesChanged();
      this.modern.notify.promptsChanged();
    });
    watch.onServers((record) => {
      const updated = resourceUpdatedIn(record);
      if (updated !== null) {
        this.sessions.resourceUpdated(updated);
        this.listens.resourceUpdated(updated);
      }
      const list = listChangedIn(record)?.list;
      if (list === undefined) return;
      this.sessions.listChanged(list);
      if (list === 'resources') this.modern.notify.resourcesChanged();
      else this.modern.notify.promptsChanged();
    });
  }

  async serve(request: HttpRequest, response: HttpResponse): Promise<void> {
    if (!methods.includes(request.method))
      return send(response, problem(405, -32_000, wrongMethod, { allow: methods.join(', ') }));
    request.headers.accept = acceptedBy(request.headers.accept);
    const loaded = this.runtime.configurations.inForceOrNull();
    if (loaded === null) return send(response, problem(503, -32_000, noConfiguration, { 'retry-after': '5' }));
    const { identity } = loaded.configuration;
    const refused =
      identity.provider === 'none'
        ? strangerOf(request, this.runtime.environment)
        : originProblem(request.headers.origin, identity.provider === 'jwt' ? identity.audience : '');
    if (refused !== null) return send(response, problem(403, -32_000, refused));
    const caller = await this.callers.of(request.get('authorization'));
    if ('refused' in caller)
      return send(response, problem(401, -32_001, caller.refused, challenge(request, this.runtime)));
    const auth: AuthInfo = authInfoOf(caller);
    await this.handle(Object.assign(request, { auth }), response);
  }

  async close(): Promise<void> {
    this.listens.close();
    await this.modern.close();
    await this.sessions.close();
  }

  private async route(request: Request, options: McpHandlerRequestOptions = {}): Promise<Response> {
    const parsedBody = await messageIn(request);
    const read = parsedBody === undefined ? {} : { parsedBody };
    const isOld = await isLegacyRequest(request, parsedBody, { maxRequestBodySize: longestMessage });
    const { authInfo } = options;
    if (!isOld && isJsonObject(parsedBody) && parsedBody['method'] === 'subscriptions/listen') {
      const connection = this.connectionOf(authInfo);
      const passedOn = new PassedOn(this.parts, connection);
      const opening = { caller: callerIn(authInfo), session: connection.session, passedOn, signal: request.signal };
      return this.listens.serve(parsedBody, opening, (message) =>
        this.modern.fetch(request, { ...options, parsedBody: message }),
      );
    }
    if (!isOld) return this.modern.fetch(request, { ...options, ...read });
    if (authInfo === undefined) throw new Error('A request came without its caller.');
    return this.sessions.serve(request, { authInfo, ...read }, longestMessage);
  }

  /** Of a request that stands alone. */
  private connectionOf(authInfo: AuthInfo | undefined): Connection {
    const { state } = callerIn(authInfo);
    return {
      session: state === null ? null : stateSession(state),
      inTurn: state === null ? new InTurn() : this.turns.of(state.session),
      callerOf: (context) => callerIn(context.http?.authInfo),
      hasUniqueIds: false,
      ...noSession,
      ...{ subscriptions: 'listen', tasks: null },
    };
  }
}

/**
 * The message of a request, which was read as far as the limit by now; undefined where it holds none: then the SDK
 * says what is wrong with it.
 */
async function messageIn(request: Request): Promise<JsonValue | undefined> {
  if (request.method !== 'POST') return undefined;
  try {
    return messageOfClient(JSON.parse(await request.clone().text()) as JsonValue);
  } catch {
    return undefined;
  }
}

const wrongMethod = 'MCP clients send POST, GET or DELETE here.';
const noConfiguration = 'No configuration is in force yet. Apply one: sluice config apply FILE.';

async function send(response: HttpResponse, answer: Response): Promise<void> {
  response.status(answer.status);
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  response.send(await answer.text());
}
