import { ToolUnavailableError } from '@sluice/core';
import type { McpServer } from '@sluice/core';
import { McpConnection } from './connection.js';
import type { ConnectionParts } from './connection.js';
import type { McpServerStatus } from './hub.js';

/** Clients of one server at one time: those of a server by command are processes. */
const mostByCommand = 16;
const mostByAddress = 128;

interface Held {
  readonly connection: McpConnection;
  /** Calls under way. */
  users: number;
  /** On the monotonic clock. */
  usedAt: number;
  /** Its credential is not accepted any more: no new call gets it. */
  retired: boolean;
}

/**
 * The clients of one server that wants a credential: a long-lived one for each credential. One whose credential was
 * refused, or that was unused for a while, is closed when its last call is over.
 */
export class McpClients {
  private readonly held = new Map<string, Held>();
  private readonly leaving = new Set<Promise<void>>();
  private sweeping: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    readonly server: McpServer,
    private readonly given: ConnectionParts,
    private readonly idleMs: number,
  ) {}

  /**
   * Runs the work with the credential's client. Throws ToolUnavailableError where there are as many as there may be,
   * all in use.
   */
  async use<T>(token: string, work: (connection: McpConnection) => Promise<T>): Promise<T> {
    const held = this.take(token);
    held.users++;
    try {
      return await work(held.connection);
    } finally {
      held.users--;
      held.usedAt = performance.now();
      if (held.connection.isRefused) this.retire(token, held);
      if (held.retired && held.users === 0) this.letGo(held);
    }
  }

  status(): McpServerStatus {
    const all = [...this.held.values()].map(({ connection }) => connection.status());
    const status = all.find(({ state }) => state === 'ready') ??
      all.at(-1) ?? { server: this.server.id, state: this.closed ? 'closed' : 'idle', error: null };
    const heldBack = [...new Set(all.flatMap((one) => one.heldBack ?? []))];
    return heldBack.length === 0 ? status : { ...status, heldBack };
  }

  get size(): number {
    return this.held.size;
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.sweeping);
    for (const held of this.held.values()) this.letGo(held);
    this.held.clear();
    await Promise.all(this.leaving);
  }

  private take(token: string): Held {
    if (this.closed) throw this.unavailable();
    const known = this.held.get(token);
    if (known !== undefined && !known.connection.isRefused) return known;
    if (known !== undefined) this.retire(token, known);
    const most = this.server.command === null ? mostByAddress : mostByCommand;
    if (this.held.size >= most && !this.makeRoom()) throw this.unavailable();
    const connection = new McpConnection(this.server, this.given, token);
    const held: Held = { connection, users: 0, usedAt: performance.now(), retired: false };
    this.held.set(token, held);
    this.sweeping ??= setInterval(() => this.sweep(), Math.ceil(this.idleMs / 2)).unref();
    return held;
  }

  /** The one that was unused for longest makes room; false if all are in use. */
  private makeRoom(): boolean {
    const idle = [...this.held].filter(([, { users }]) => users === 0);
    const [oldest] = idle.sort(([, a], [, b]) => a.usedAt - b.usedAt);
    if (oldest === undefined) return false;
    this.held.delete(oldest[0]);
    this.letGo(oldest[1]);
    return true;
  }

  private retire(token: string, held: Held): void {
    held.retired = true;
    if (this.held.get(token) === held) this.held.delete(token);
  }

  private sweep(): void {
    const before = performance.now() - this.idleMs;
    for (const [token, held] of this.held) {
      if (held.users > 0 || held.usedAt > before) continue;
      this.held.delete(token);
      this.letGo(held);
    }
    if (this.held.size > 0) return;
    clearInterval(this.sweeping);
    this.sweeping = undefined;
  }

  private letGo({ connection }: Held): void {
    const gone = connection
      .close()
      .catch((error: unknown) => this.given.log(connection.hide(`a client could not be closed: ${String(error)}`)))
      .finally(() => this.leaving.delete(gone));
    this.leaving.add(gone);
  }

  private unavailable(): ToolUnavailableError {
    return new ToolUnavailableError(`The MCP server ${this.server.id} is not available now.`);
  }
}
