import { randomBytes, randomUUID } from 'node:crypto';
import { sha256, watchedKey } from '@sluice/contracts';
import type { WatchedResource } from '@sluice/contracts';
import type { JsonObject, PassedOnList } from '@sluice/core';
import type { Runtime } from '@sluice/host';
import { emptyOutbox, passesOn, posted, standingEventId, subscribed, unheard, unsubscribed } from '@sluice/mcp';
import type { EventPosition, Outbox } from '@sluice/mcp';
import type { Hearer } from './asking.js';
import type { SessionSubscriptions } from './connection.js';
import { primedFrom, retryMs } from './exchange.js';
import { changeValue, keptValue, prolong } from './kept-values.js';
import type { Keeping } from './kept-values.js';
import type { ResourceWatches } from './resource-watches.js';
import type { OpenSession } from './session-records.js';
import { sessionKeptMs } from './session-states.js';

/** How often the outboxes of open streams are looked at, and clients hear that a stream is open, in milliseconds. */
const lookMs = 1_000;
const aliveMs = 15_000;
/** How often an outbox is kept for longer, in milliseconds. */
const prolongMs = 5 * 60_000;
/** Streams of one session in a process, at most. */
const mostStreams = 4;
/** Another replica hears of a subscription so much later, in milliseconds. */
const knownLateMs = 3 * lookMs;

function listChanged(list: 'tools' | PassedOnList): JsonObject {
  return { jsonrpc: '2.0', method: `notifications/${list}/list_changed` };
}

interface Standing {
  readonly connection: string;
  readonly session: OpenSession;
  readonly claims: Hearer['claims'];
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** The last message of the outbox that was sent, or that is not for this stream. */
  heard: number;
  isHolder: boolean;
  prolongedAt: number;
  /** As they were when the outbox was looked at last. */
  subscriptions: readonly WatchedResource[];
}

/**
 * The streams on which clients hear what belongs to none of their requests. A message waits in its session’s outbox, in
 * the ledger’s database, for the one replica that has the stream; it is sent there within a second, or when the client
 * is back.
 */
export class StandingStreams {
  private readonly open = new Set<Standing>();
  private readonly keeping: Keeping;
  private readonly timers: readonly NodeJS.Timeout[];
  private readonly encoder = new TextEncoder();
  /** Resources that changed a moment ago, by when, the oldest first. */
  private readonly updatedAt = new Map<string, number>();

  constructor(
    private readonly runtime: Pick<Runtime, 'documents' | 'clock' | 'configurations' | 'log'>,
    private readonly watches: ResourceWatches,
  ) {
    this.keeping = { documents: runtime.documents, clock: runtime.clock };
    this.timers = [
      setInterval(() => void this.lookAtAll(), lookMs),
      setInterval(() => this.writeToAll(': keepalive\n\n'), aliveMs),
    ];
    for (const timer of this.timers) timer.unref();
  }

  /** A stream for the session’s client, from where it was heard last; null: from now on. */
  async stream(
    session: OpenSession,
    last: Extract<EventPosition, { kind: 'standing' }> | null,
    claims: Hearer['claims'],
  ): Promise<Response> {
    const connection = randomUUID();
    const outbox = await this.change(session, (before) => ({ ...(before ?? emptyOutbox), holder: connection }));
    const [oldest, ...others] = [...this.open].filter((one) => one.session.key === session.key);
    if (oldest !== undefined && others.length >= mostStreams - 1) this.leave(oldest);
    let standing: Standing | null = null;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const heard = Math.min(last?.position ?? outbox.last, outbox.last);
        const prolongedAt = this.keeping.clock.now();
        const { subscriptions = [] } = outbox;
        standing = { connection, session, claims, controller, heard, isHolder: true, prolongedAt, subscriptions };
        this.open.add(standing);
        if (session.revision >= primedFrom)
          this.write(standing, `id: ${this.idAt(heard)}\nretry: ${retryMs}\ndata: \n\n`);
        const { isWhole } = unheard(outbox, heard);
        const isSame = last === null || last.configuration === this.configuration();
        if (!isWhole || !isSame) for (const message of this.allChanged()) this.say(standing, message);
        this.deliver(standing, outbox);
        // They may have changed while there was no stream.
        for (const one of subscriptions) this.tell(standing, one);
        void this.watches.keep(subscriptions);
      },
      cancel: () => {
        if (standing !== null) this.left(standing);
      },
    });
    return new Response(body, {
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
        'mcp-session-id': session.id,
      },
    });
  }

  /** Puts a message into the outbox of the session; nowhere where its client never had a stream. */
  async post(session: OpenSession, message: JsonObject): Promise<void> {
    const { clock } = this.keeping;
    const outbox = await this.change(session, (before) => before && posted(before, message, clock.now()));
    for (const standing of this.open)
      if (standing.session.key === session.key && standing.connection === outbox.holder) this.deliver(standing, outbox);
  }

  /** The configuration is another one: every replica sees that for itself. */
  listsChanged(): void {
    for (const standing of this.open)
      if (standing.isHolder) for (const message of this.allChanged()) this.say(standing, message);
  }

  /** A list of an upstream server is another one: every replica hears that. */
  listChanged(list: PassedOnList): void {
    for (const standing of this.open) if (standing.isHolder) this.say(standing, listChanged(list));
  }

  /** A resource changed: the sessions that subscribed to it hear so. */
  resourceUpdated(updated: WatchedResource): void {
    const now = this.keeping.clock.now();
    for (const [key, at] of this.updatedAt) {
      if (now - at < knownLateMs) break;
      this.updatedAt.delete(key);
    }
    const key = watchedKey(updated);
    this.updatedAt.delete(key);
    this.updatedAt.set(key, now);
    for (const standing of this.open)
      if (standing.isHolder && has(standing.subscriptions, updated)) this.tell(standing, updated);
  }

  /** The subscriptions of a session stand in its outbox, so any replica finds them. */
  subscriptionsOf(session: OpenSession): SessionSubscriptions {
    return {
      add: async (watched) => {
        let isFull = false;
        const outbox = await this.change(session, (before) => {
          const next = subscribed(before ?? emptyOutbox, watched, this.keeping.clock.now());
          isFull = next === null;
          return next;
        });
        if (!isFull) this.subscribedTo(session, outbox);
        return !isFull;
      },
      remove: async (uri) =>
        this.subscribedTo(session, await this.change(session, (before) => before && unsubscribed(before, uri))),
    };
  }

  /** The session is ended: its streams end, here at once. */
  async forget(session: OpenSession): Promise<void> {
    for (const standing of this.open) if (standing.session.key === session.key) this.leave(standing);
    await changeValue<Outbox>(this.keeping, keyOf(session), 0, (before) => before);
  }

  async close(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    const all = [...this.open];
    for (const standing of all) this.leave(standing);
    await Promise.allSettled(all.map((standing) => this.release(standing)));
  }

  private async lookAtAll(): Promise<void> {
    await Promise.allSettled(
      [...this.open].map(async (standing) => {
        const outbox = await keptValue<Outbox>(this.keeping, keyOf(standing.session));
        // Where the session has ended or expired, there is nothing more to hear.
        if (outbox === null) return this.leave(standing);
        if (outbox.value.holder === null) {
          const changed = await this.change(standing.session, (before) =>
            before?.holder === null ? { ...before, holder: standing.connection } : null,
          );
          standing.isHolder = changed.holder === standing.connection;
        } else standing.isHolder = outbox.value.holder === standing.connection;
        if (!standing.isHolder) return;
        this.deliver(standing, outbox.value);
        this.lookAtSubscriptions(standing, outbox.value);
        void this.watches.keep(standing.subscriptions);
        const now = this.keeping.clock.now();
        if (now - standing.prolongedAt < prolongMs) return;
        standing.prolongedAt = now;
        await prolong(this.keeping, keyOf(standing.session), sessionKeptMs, 0);
      }),
    );
  }

  private subscribedTo({ key }: OpenSession, outbox: Outbox): void {
    for (const standing of this.open) if (standing.session.key === key) this.lookAtSubscriptions(standing, outbox);
  }

  /** Says of what was subscribed to at another replica if it changed since. */
  private lookAtSubscriptions(standing: Standing, { subscriptions = [] }: Outbox): void {
    const before = standing.subscriptions;
    standing.subscriptions = subscriptions;
    for (const one of subscriptions)
      if (!has(before, one) && (this.updatedAt.get(watchedKey(one)) ?? 0) > one.since) this.tell(standing, one);
  }

  /** Says that the resource changed, if the session’s caller may still read it. */
  private tell(standing: Standing, watched: WatchedResource): void {
    const { session, claims } = standing;
    void this.watches
      .mayHear({ principal: session.principal, claims }, session.id, watched)
      .then((mayHear) => {
        if (!mayHear || !this.open.has(standing)) return;
        const params = { uri: watched.uri };
        this.say(standing, { jsonrpc: '2.0', method: 'notifications/resources/updated', params });
      })
      .catch((error: unknown) =>
        this.runtime.log.warn({ error: (error as Error).message }, 'an MCP client does not hear of a changed resource'),
      );
  }

  private deliver(standing: Standing, outbox: Outbox): void {
    for (const { at, message } of unheard(outbox, standing.heard).messages) {
      standing.heard = at;
      this.say(standing, message);
    }
    standing.heard = Math.max(standing.heard, outbox.last);
  }

  private say(standing: Standing, message: JsonObject): void {
    this.write(standing, `event: message\nid: ${this.idAt(standing.heard)}\ndata: ${JSON.stringify(message)}\n\n`);
  }

  private writeToAll(text: string): void {
    for (const standing of this.open) this.write(standing, text);
  }

  private write(standing: Standing, text: string): void {
    try {
      standing.controller.enqueue(this.encoder.encode(text));
    } catch {
      this.left(standing);
    }
  }

  private idAt(position: number): string {
    return standingEventId(position, this.configuration(), randomBytes(8).toString('hex'));
  }

  private allChanged(): readonly JsonObject[] {
    const hasPrompts = passesOn('prompt', this.runtime.configurations.current().evaluator);
    return [listChanged('tools'), listChanged('resources'), ...(hasPrompts ? [listChanged('prompts')] : [])];
  }

  private configuration(): string {
    return sha256(this.runtime.configurations.current().evaluator.configuration.version).slice(0, 16);
  }

  private leave(standing: Standing): void {
    this.open.delete(standing);
    try {
      standing.controller.close();
    } catch {
      // Its client left before.
    }
  }

  private left(standing: Standing): void {
    this.open.delete(standing);
    void this.release(standing).catch(() => undefined);
  }

  /** Another stream of the session may have what comes. */
  private async release({ session, connection }: Standing): Promise<void> {
    await this.change(session, (before) => (before?.holder === connection ? { ...before, holder: null } : null));
  }

  private async change(session: OpenSession, change: (before: Outbox | null) => Outbox | null): Promise<Outbox> {
    return (await changeValue(this.keeping, keyOf(session), sessionKeptMs, change)) ?? emptyOutbox;
  }
}

function has(subscriptions: readonly WatchedResource[], { server, uri }: WatchedResource): boolean {
  return subscriptions.some((one) => one.uri === uri && one.server === server);
}

function keyOf({ key }: OpenSession): string {
  return `mcp/outbox/${key}`;
}
