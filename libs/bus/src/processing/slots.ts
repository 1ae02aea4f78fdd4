import { Heap } from './heap.js';
import type { Queued } from './heap.js';

/** Of one tenant at one service: those that wait, first come first served, and how many of its records are in work. */
interface Share extends Queued {
  readonly service: number;
  /** In the order they came. */
  readonly number: number;
  readonly line: ((granted: boolean) => void)[];
  taken: number;
  /** When it was served last, or came, in grants since the beginning. */
  served: number;
}

/**
 * A lower limit for as long after records of several tenants came: what is begun of one is in the way of the others.
 */
interface Shared {
  readonly limit: number;
  readonly forMs: number;
  readonly now: () => number;
  /** Whether it is the name of a tenant: others may be names of the same one. */
  readonly counts: (tenant: string) => boolean;
}

/** Room as one service has it. */
export interface Room {
  take(tenant: string): boolean | Promise<boolean>;
  free(tenant: string): void;
  close(): void;
}

/**
 * Room for a number of records in work. What finds none waits in its tenant’s line. Whose records are fewest in work
 * goes first, tenants with as many in turn: a thousand records of one tenant delay another’s by those that are in
 * work, not by those that wait.
 */
export class Slots implements Room {
  private _taken = 0;
  private _waiting = 0;
  private services = 0;
  private readonly closed = new Set<number>();
  private grants = 0;
  private came = 0;
  /** Of tenants that have something in work or waiting. */
  private readonly shares = new Map<string, Share>();
  /** Those of them that wait, the next one first: a grant does not look through thousands of tenants. */
  private readonly queue = new Heap<Share>(isSooner);

  private last: string | undefined;
  /** When a record of another tenant than the last one’s came. */
  private sharedAt = -Infinity;

  constructor(
    private readonly most: number,
    private readonly shared: Shared = { limit: most, forMs: 0, now: () => 0, counts: () => false },
  ) {
    const limit = Math.min(most, shared.limit);
    if (!(limit >= 1))
      throw new RangeError(`maxInFlight is ${limit}, so nothing would ever be handled. Make it 1 or more.`);
  }

  get taken(): number {
    return this._taken;
  }

  /** How many wait for it. */
  get waiting(): number {
    return this._waiting;
  }

  /**
   * Several tenants share it as long as records of more than one came of late: one’s record is at one service at a
   * time.
   */
  get limit(): number {
    const { limit, forMs, now } = this.shared;
    return now() - this.sharedAt < forMs ? limit : this.most;
  }

  /** Resolves with false if the slots are closed. A plain value where a slot is free. */
  take(tenant: string, service = 0): boolean | Promise<boolean> {
    if (this.closed.has(service)) return false;
    this.noticed(tenant);
    const key = keyOf(tenant, service);
    let share = this.shares.get(key);
    // Behind those that were served before it came, ahead of the one that was served last.
    if (share === undefined) {
      share = { service, number: ++this.came, line: [], taken: 0, served: this.grants - 0.5, index: -1 };
      this.shares.set(key, share);
    }
    if (this._taken < this.limit && this._waiting === 0) {
      this.serve(share);
      return true;
    }
    this._waiting++;
    const waiting = share;
    return new Promise((resolve) => {
      if (waiting.line.push(resolve) === 1) this.queue.push(waiting);
    });
  }

  /** One record of the tenant is done. */
  free(tenant: string, service = 0): void {
    this._taken--;
    const key = keyOf(tenant, service);
    const share = this.shares.get(key);
    if (share !== undefined) {
      share.taken--;
      if (share.line.length > 0) this.queue.moved(share);
      else if (share.taken === 0) this.shares.delete(key);
    }
    while (this._taken < this.limit && this._waiting > 0) this.grant();
  }

  /** Nothing is granted to the service any more. */
  close(service = 0): void {
    this.closed.add(service);
    for (const [key, share] of this.shares) {
      if (share.service !== service) continue;
      this._waiting -= share.line.length;
      if (share.line.length > 0) this.queue.remove(share);
      for (const waiting of share.line.splice(0)) waiting(false);
      if (share.taken === 0) this.shares.delete(key);
    }
  }

  /**
   * For one of several services that share it. Each tenant has a line at each: what waits at one is not behind what
   * waits at another.
   */
  ofService(): Room {
    const service = ++this.services;
    return {
      take: (tenant) => this.take(tenant, service),
      free: (tenant) => this.free(tenant, service),
      close: () => this.close(service),
    };
  }

  private noticed(tenant: string): void {
    if (tenant === this.last || !this.shared.counts(tenant)) return;
    if (this.last !== undefined) this.sharedAt = this.shared.now();
    this.last = tenant;
  }

  private grant(): void {
    const next = this.queue.first;
    if (next === undefined) return;
    this._waiting--;
    this.serve(next);
    const granted = next.line.shift();
    if (next.line.length > 0) this.queue.moved(next);
    else this.queue.remove(next);
    granted?.(true);
  }

  private serve(share: Share): void {
    this._taken++;
    share.taken++;
    share.served = ++this.grants;
  }
}

const keyOf = (tenant: string, service: number): string => `${service} ${tenant}`;

function isSooner(one: Share, other: Share): boolean {
  if (one.taken !== other.taken) return one.taken < other.taken;
  return one.served === other.served ? one.number < other.number : one.served < other.served;
}
