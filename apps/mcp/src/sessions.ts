import { randomUUID } from 'node:crypto';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { AuthInfo, Server } from '@modelcontextprotocol/server';
import type { JsonValue } from '@sluice/core';
import { isSame } from '@sluice/host';
import type { Principal } from '@sluice/core';
import { isInitialize } from '@sluice/mcp';
import { callerIn } from './callers.js';
import { createServer } from './create-server.js';
import { InTurn } from './in-turn.js';
import { sayListsChanged } from './lists-changed.js';
import type { ServerParts } from './server-parts.js';

/** Sessions of a process, and of one caller, at most. */
const mostSessions = 1_000;
const mostOfCaller = 100;
/** A session without a request for so long is closed, in milliseconds. */
const idleMs = 30 * 60_000;

interface Session {
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly principal: Principal;
  lastUsed: number;
  /** Requests that are answered now. */
  open: number;
}

/** Whose request it is, and its message, where it could be read. */
interface Given {
  readonly authInfo: AuthInfo;
  readonly parsedBody?: JsonValue;
}

/**
 * The sessions of the older era (2025-11-25 and before), each with its connection to the SDK; what they know beside
 * it is in SessionStates.
 */
export class Sessions {
  private readonly sessions = new Map<string, Session>();
  private readonly sweep: NodeJS.Timeout;

  constructor(private readonly parts: ServerParts) {
    this.sweep = setInterval(() => void this.closeIdle(), 60_000);
    this.sweep.unref();
  }

  get size(): number {
    return this.sessions.size;
  }

  /** Serves a request of the older era: in its session, or as the beginning of one. */
  async serve(request: Request, given: Given, maxBytes: number): Promise<Response> {
    const { principal } = callerIn(given.authInfo);
    const id = request.headers.get('mcp-session-id');
    // A client may begin again with the id of a session that ended.
    if (id === null || isInitialize(given.parsedBody ?? null)) return this.begin(request, given, maxBytes);
    const session = this.sessions.get(id);
    // Of another one’s session nothing is said, not even that it is there.
    if (session === undefined || !isSame(session.principal, principal))
      return problem(404, -32_001, 'There is no such session. Initialize a new one.');
    // The sweep comes once in a minute.
    if (this.isIdle(session)) {
      await session.server.close();
      return problem(404, -32_001, 'This session was unused for too long and is closed. Initialize a new one.');
    }
    session.lastUsed = this.parts.runtime.clock.now();
    // A standing stream alone keeps no session; a call does, however long it takes.
    if (request.method !== 'POST') return session.transport.handleRequest(request, given);
    session.open++;
    const ended = (): void => {
      session.open--;
      session.lastUsed = this.parts.runtime.clock.now();
    };
    try {
      return whenSent(await session.transport.handleRequest(request, given), ended);
    } catch (error) {
      ended();
      throw error;
    }
  }

  /** Says to every session that its list of tools may be another one now. */
  async listsChanged(): Promise<void> {
    await Promise.allSettled([...this.sessions.values()].map(({ server }) => sayListsChanged(server)));
  }

  async close(): Promise<void> {
    clearInterval(this.sweep);
    await Promise.allSettled([...this.sessions.values()].map(({ server }) => server.close()));
    this.sessions.clear();
  }

  private async begin(request: Request, given: Given, maxRequestBodySize: number): Promise<Response> {
    const { principal } = callerIn(given.authInfo);
    if (request.method !== 'POST') return problem(400, -32_000, 'The header `mcp-session-id` is missing.');
    if (!(await this.hasRoom(principal)))
      return problem(503, -32_000, 'This server has as many sessions as it holds. Try again in a moment.', {
        'retry-after': '5',
      });
    const session = randomUUID();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => session,
      maxRequestBodySize,
      onsessioninitialized: (id) => {
        this.sessions.set(id, entry);
        this.counted();
      },
    });
    const connection = {
      session,
      inTurn: new InTurn(),
      // The state of this era is the session’s own.
      callerOf: (context: { http?: { authInfo?: AuthInfo } }) => ({ ...callerIn(context.http?.authInfo), state: null }),
      hasUniqueIds: true,
    };
    const server = createServer(this.parts, connection);
    const entry: Session = { server, transport, principal, lastUsed: this.parts.runtime.clock.now(), open: 0 };
    await server.connect(transport);
    server.onclose = () => {
      this.sessions.delete(session);
      this.counted();
    };
    const response = await transport.handleRequest(request, given);
    if (!this.sessions.has(session)) await server.close();
    return response;
  }

  /** Room for one more; where the caller has its share, in place of the one that it used least recently. */
  private async hasRoom(principal: Principal): Promise<boolean> {
    const own = [...this.sessions.values()].filter((session) => isSame(session.principal, principal));
    if (own.length < mostOfCaller && this.sessions.size < mostSessions) return true;
    const [oldest] = own.filter(({ open }) => open === 0).sort((one, other) => one.lastUsed - other.lastUsed);
    if (oldest === undefined) return false;
    await oldest.server.close();
    return true;
  }

  private async closeIdle(): Promise<void> {
    const idle = [...this.sessions.values()].filter((session) => this.isIdle(session));
    await Promise.allSettled(idle.map(({ server }) => server.close()));
  }

  private isIdle({ lastUsed, open }: Session): boolean {
    return open === 0 && lastUsed < this.parts.runtime.clock.now() - idleMs;
  }

  private counted(): void {
    this.parts.runtime.metrics.mcpSessions.set(this.sessions.size);
  }
}

/** The same response; `ended` is called once, when all of it was sent or its reader left. */
function whenSent(response: Response, ended: () => void): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) {
    ended();
    return response;
  }
  const reader = body.getReader();
  let isOpen = true;
  const end = (): void => {
    if (isOpen) ended();
    isOpen = false;
  };
  const sent = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        end();
        throw error;
      }
    },
    cancel(reason) {
      end();
      return reader.cancel(reason);
    },
  });
  return new Response(sent, { status, statusText, headers });
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
