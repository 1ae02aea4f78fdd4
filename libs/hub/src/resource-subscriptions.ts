import type { Client, McpSubscription } from '@modelcontextprotocol/client';
import { ToolUserError } from '@sluice/core';
import { Coalesced } from './coalesced.js';

/** How long a resource that a call has subscribed to waits for its watch to be known, in milliseconds. */
const grantedMs = 30_000;
/** A resource that the server refused is not asked for again before, in milliseconds. */
const againMs = 60_000;

interface Parts {
  readonly timeoutMs: number;
  /** The client in use, or a new one; rejects where the server is away. */
  connect(): Promise<Client>;
  /** A resource that is subscribed to may have changed; at most once a second of each. */
  onUpdated(uri: string): void;
  /** The sentence says what is wrong, behind the server’s name. */
  log(message: string): void;
  reasonIn(error: unknown): string;
}

/**
 * The resources of one server that are subscribed to: by a request for each in the older revisions, by one stream for
 * all in the newest. A server that is back after it was away is asked for them again; what it would have said
 * meanwhile is unknown, so each of them counts as changed.
 */
export class ResourceSubscriptions {
  private followed: ReadonlySet<string> = new Set();
  /** What calls have just subscribed to, and until when, on the monotonic clock. */
  private readonly granted = new Map<string, number>();
  /** Of the client in use: what the server has accepted, and what it refused, by when that was. */
  private readonly accepted = new Set<string>();
  private readonly refusedAt = new Map<string, number>();
  private stream: McpSubscription | null = null;
  private client: Client | null = null;
  /** What the server may have had to say of while it was away. */
  private readonly missed = new Set<string>();
  private turn: Promise<void> = Promise.resolve();
  private readonly updates = new Coalesced((uri) => this.parts.onUpdated(uri));

  constructor(private readonly parts: Parts) {}

  /** From now on these are subscribed to, and no others. `isLate`: they may have changed since it was wanted. */
  follow(uris: ReadonlySet<string>, isLate: boolean): void {
    this.followed = uris;
    const wanted = this.wanted();
    if (isLate) for (const uri of uris) if (!this.accepted.has(uri)) this.missed.add(uri);
    if (wanted.size === 0) this.missed.clear();
    if (wanted.size === 0 && this.accepted.size === 0) return;
    void this.inTurn(async () => this.settle(this.client ?? (await this.parts.connect()))).catch(() => undefined);
  }

  /** Subscribes for a call; rejects with the server’s refusal. */
  async add(client: Client, uri: string): Promise<void> {
    this.granted.set(uri, performance.now() + grantedMs);
    this.refusedAt.delete(uri);
    try {
      await this.inTurn(async () => {
        if (this.accepted.has(uri)) return;
        if (client.getProtocolEra() === 'modern') await this.listen(client, this.wanted());
        else await this.subscribe(client, uri);
        if (!this.accepted.has(uri)) throw new ToolUserError('The server did not accept the subscription.');
      });
    } catch (error) {
      this.granted.delete(uri);
      throw error;
    }
  }

  /** A client is connected. */
  connected(client: Client): void {
    this.client = client;
    this.forget();
    if (this.wanted().size > 0) void this.inTurn(() => this.settle(client)).catch(() => undefined);
  }

  /** The client in use is lost. */
  lost(): void {
    this.client = null;
    this.forget();
  }

  /** The server says that a resource changed. It may say so of one below the address that was subscribed to. */
  updated(uri: string): void {
    const own = this.accepted.has(uri) ? uri : [...this.accepted].find((one) => isBelow(uri, one));
    if (own !== undefined) this.updates.happened(own);
  }

  stop(): void {
    this.updates.stop();
    this.lost();
  }

  private forget(): void {
    for (const uri of this.accepted) this.missed.add(uri);
    this.accepted.clear();
    this.refusedAt.clear();
    this.stream = null;
  }

  private wanted(): ReadonlySet<string> {
    const now = performance.now();
    for (const [uri, until] of this.granted) if (until < now) this.granted.delete(uri);
    return new Set([...this.followed, ...this.granted.keys()]);
  }

  /** Makes what the server is subscribed to what is wanted. What it refuses is logged, and asked for again later. */
  private async settle(client: Client): Promise<void> {
    if (client !== this.client) return;
    const wanted = this.wanted();
    await this.subscribeTo(client, wanted);
    for (const uri of [...this.missed]) {
      if (wanted.has(uri) && !this.accepted.has(uri)) continue;
      this.missed.delete(uri);
      if (wanted.has(uri)) this.updates.happened(uri);
    }
  }

  private async subscribeTo(client: Client, wanted: ReadonlySet<string>): Promise<void> {
    const now = performance.now();
    const due = [...wanted].filter(
      (uri) => !this.accepted.has(uri) && now - (this.refusedAt.get(uri) ?? -Infinity) > againMs,
    );
    if (client.getProtocolEra() === 'modern') {
      if (due.length > 0 || [...this.accepted].some((uri) => !wanted.has(uri)))
        await this.listen(client, wanted).catch((error: unknown) => this.refused(due, error));
      return;
    }
    for (const uri of [...this.accepted].filter((one) => !wanted.has(one))) {
      this.accepted.delete(uri);
      await client.unsubscribeResource({ uri }, this.bounds()).catch(() => undefined);
    }
    for (const uri of due) await this.subscribe(client, uri).catch((error: unknown) => this.refused([uri], error));
  }

  private async subscribe(client: Client, uri: string): Promise<void> {
    await client.subscribeResource({ uri }, this.bounds());
    if (client === this.client) this.accepted.add(uri);
  }

  /** One stream for all; the one before it ends when this one is there, so that nothing is missed between them. */
  private async listen(client: Client, wanted: ReadonlySet<string>): Promise<void> {
    const before = this.stream;
    const next = wanted.size === 0 ? null : await client.listen({ resourceSubscriptions: [...wanted] }, this.bounds());
    if (client !== this.client) return void (await next?.close());
    this.stream = next;
    this.accepted.clear();
    for (const uri of next?.honoredFilter.resourceSubscriptions ?? []) if (wanted.has(uri)) this.accepted.add(uri);
    this.refusedAt.clear();
    for (const uri of wanted) if (!this.accepted.has(uri)) this.refusedAt.set(uri, performance.now());
    await before?.close();
    void next?.closed.then((end) => {
      if (end === 'local' || this.stream !== next) return;
      // It is opened again when follow() is called next.
      this.forget();
    });
  }

  private refused(uris: readonly string[], error: unknown): void {
    for (const uri of uris) this.refusedAt.set(uri, performance.now());
    const [first] = uris;
    if (first === undefined) return;
    this.parts.log(`did not accept a subscription to ${JSON.stringify(first)}: ${this.parts.reasonIn(error)}`);
  }

  private bounds(): { readonly timeout: number } {
    return { timeout: this.parts.timeoutMs };
  }

  private inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.turn.then(work);
    this.turn = done.catch(() => undefined);
    return done;
  }
}

function isBelow(uri: string, above: string): boolean {
  return uri.startsWith(above.endsWith('/') ? above : `${above}/`);
}
