import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '@sluice/core';
import type { Claim, ClaimRequest, Clock, PastAnswer, PastRequest } from '@sluice/core';
import type { ClaimStore } from './claim-store.js';
import { backOffMs } from './outage.js';
import { firstDatabase, databasesOf } from './placement.js';
import type { Placement, KeyDatabases } from './placement.js';
import { PlacementChanged } from './statements.js';
import type { Stored } from './statements.js';

interface Parts {
  readonly stores: ReadonlyMap<string, ClaimStore>;
  readonly clock: Clock;
  /** As it was when the ledger was opened. */
  readonly placement: Placement;
  /** What is in force now. Throws Fault('ledger_unreachable') where this process cannot work by it. */
  readPlacement(): Promise<Placement>;
  readonly patienceMs: number;
}

/** By which placement a claim is looked for, and where. */
interface Way {
  readonly version: number;
  readonly current: ClaimStore;
  readonly former: readonly ClaimStore[];
}

/**
 * Claims over the databases of a ledger. Each statement carries the version of the placement it was meant for, and
 * does nothing where another is in force. So nothing is claimed at a former place, and a key that was moved has its
 * claim in one database: the former one until it is gone there, and the current one from then on. They are
 * asked in that order.
 */
export class SpreadClaims {
  private placement: Placement;
  private reading: Promise<void> | undefined;

  constructor(private readonly parts: Parts) {
    this.placement = parts.placement;
  }

  async claim(request: ClaimRequest): Promise<Claim> {
    const { key } = request;
    const stored = await this.along(key, (way) => this.claimAt(way, request), Boolean);
    return { key, ...stored };
  }

  /** Undefined if the claim is another's or gone. */
  settle(key: string, owner: string, value: string): Promise<Stored | undefined> {
    return this.along(
      key,
      ({ version, former, current }) =>
        firstOf([...former, current], (store) => store.settle({ key, owner, value, version })),
      Boolean,
    );
  }

  release(key: string, owner: string): Promise<boolean> {
    return this.along(
      key,
      async ({ version, former, current }) =>
        (await firstOf(
          [...former, current],
          async (store) => (await store.release({ key, owner, version })) || undefined,
        )) ?? false,
      Boolean,
    );
  }

  async find(key: string): Promise<Claim | undefined> {
    const stored = await this.along(
      key,
      ({ version, former, current }) => firstOf([...former, current], (store) => store.find({ key, version })),
      Boolean,
    );
    return stored && { key, ...stored };
  }

  /**
   * A call that is counted, with its claim. What is counted is in the first database. A claim of another one is taken
   * first, and given back if there is no room.
   */
  async begin(past: VersionedPast, request: PastRequest): Promise<PastAnswer> {
    const { callKey, claim } = request;
    const begin = (way: Way): Promise<PastAnswer> =>
      claim === null
        ? past.begin({ ...request, version: way.version })
        : this.beginAlong(way, past, { ...request, claim });
    return this.along(claim?.key ?? callKey, begin, () => true);
  }

  /** Reads which placement is in force. */
  refresh(): Promise<void> {
    this.reading ??= this.parts
      .readPlacement()
      .then((read) => {
        if (read.version !== this.placement.version) this.placement = read;
      })
      .finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async beginAlong(
    way: Way,
    past: VersionedPast,
    request: PastRequest & { readonly claim: ClaimRequest },
  ): Promise<PastAnswer> {
    const { claim } = request;
    const { version, current, former } = way;
    if (current.name === firstDatabase && former.length === 0) return past.begin({ ...request, version });
    const held: Claim = { key: claim.key, ...(await this.claimAt(way, claim)) };
    const isOwn = held.owner === claim.owner;
    if (!isOwn && held.value !== null) return { kind: 'held', claim: held };
    // Also for one that another attempt holds: it may have ended before it was counted.
    const answer = await past.begin({ ...request, claim: null, version });
    if (answer.kind === 'begun') return isOwn ? { ...answer, claim: held } : { kind: 'held', claim: held };
    if (answer.kind === 'over' && isOwn) await this.release(claim.key, claim.owner);
    return answer;
  }

  private async claimAt({ version, current, former }: Way, request: ClaimRequest): Promise<Stored> {
    for (const store of former) {
      const found = await store.find({ key: request.key, version });
      if (found === undefined) continue;
      if (found.expiresAt > request.now) return found;
      // As long as it is there, the others look at it first.
      await store.retire(request.key, request.now);
    }
    return current.claim({ ...request, version });
  }

  /** Again from the beginning where the placement changed meanwhile, unless it was done. */
  private async along<T>(key: string, work: (way: Way) => Promise<T>, isDone: (result: T) => boolean): Promise<T> {
    const since = performance.now();
    for (let failures = 1; ; failures++) {
      const { placement } = this;
      try {
        const result = await work(this.wayTo(key, placement));
        if (isDone(result) || placement.version === this.placement.version) return result;
      } catch (error) {
        if (!(error instanceof Fault && error.cause instanceof PlacementChanged)) throw error;
        await this.refresh();
        if (placement.version !== this.placement.version) continue;
        if (performance.now() - since > this.parts.patienceMs) throw interrupted();
        await delay(backOffMs(failures));
      }
    }
  }

  private wayTo(key: string, placement: Placement): Way {
    const { current, former }: KeyDatabases = databasesOf(key, placement, this.parts.clock.now());
    return {
      version: placement.version,
      current: this.store(current),
      former: former.map((name) => this.store(name)),
    };
  }

  private store(name: string): ClaimStore {
    const store = this.parts.stores.get(name);
    if (store === undefined) throw new Fault('unexpected', `The ledger has no database ${name}.`, false);
    return store;
  }
}

/** The beginning of a call, whose claim is held to a placement. */
export interface VersionedPast {
  begin(request: PastRequest & { readonly version: number }): Promise<PastAnswer>;
}

async function firstOf<T>(
  stores: readonly ClaimStore[],
  ask: (store: ClaimStore) => Promise<T | undefined>,
): Promise<T | undefined> {
  for (const store of stores) {
    const found = await ask(store);
    if (found !== undefined) return found;
  }
  return undefined;
}

function interrupted(): Fault {
  return new Fault(
    'ledger_unreachable',
    'Databases are being added to the ledger. If this lasts, “sluice ledger spread” was interrupted: run it again.',
    true,
  );
}
