import type pg from 'pg';
import { Fault } from '@sluice/core';
import type { ClaimRequest } from '@sluice/core';
import { Batcher } from './batcher.js';
import type { BatchWork, Patience } from './batcher.js';
import { mayPass, unreachable } from './database-error.js';
import type { DatabaseAddress } from './database-error.js';
import type { Outage } from './outage.js';
import { statementsOn, sweepPortion } from './statements.js';
import type { Outcome, Ownership, Versioned, Statements, Stored } from './statements.js';
import { storedKey } from './stored-text.js';

/** One database of a ledger. */
export interface LedgerDatabase {
  /** As placements name it. */
  readonly name: string;
  readonly pool: pg.Pool;
  readonly place: DatabaseAddress;
  readonly outage: Outage;
}

/** The claims in one database. Each call rejects with a Fault; its cause is PlacementChanged where that is why. */
export interface ClaimStore {
  readonly name: string;
  readonly patience: Patience;
  readonly statements: Statements;
  claim(request: Versioned<ClaimRequest>): Promise<Stored>;
  settle(outcome: Versioned<Outcome>): Promise<Stored | undefined>;
  release(ownership: Versioned<Ownership>): Promise<boolean>;
  find(request: Versioned<{ readonly key: string }>): Promise<Stored | undefined>;
  /** Deletes the claim if it has expired by `now`. */
  retire(key: string, now: number): Promise<void>;
  /** Until all that has expired is gone, or `isClosing`. */
  sweep(now: number, isClosing: () => boolean): Promise<number>;
  close(): Promise<void>;
}

const claimsAtOnce = 500;
/** Fewer, since an outcome holds what a tool returned. */
const outcomesAtOnce = 50;

export function claimStoreOn({ name, pool, place, outage }: LedgerDatabase, schema: string, forMs: number): ClaimStore {
  const statements = statementsOn(pool, schema);
  const patience = { forMs, outage, mayPass, faultOf: (error: unknown) => unreachable(place, error) };
  const batcher = <Asked, Answer>(work: BatchWork<Asked, Answer>): Batcher<Asked, Answer> =>
    new Batcher(work, patience);
  const keyOf = ({ key }: { readonly key: string }): string => storedKey(key);
  const never = (): boolean => false;

  // A claim that broke off may be in force already. Asking again is safe: it is the same owner's, who then finds it.
  const claims = batcher<Versioned<ClaimRequest>, Stored>({
    limit: claimsAtOnce,
    keyOf,
    run: (batch) => statements.claim(batch),
    serves: (claim, next) => claim !== undefined && claim.expiresAt > next.now,
  });
  const outcomes = batcher<Versioned<Outcome>, Stored>({
    limit: outcomesAtOnce,
    keyOf,
    run: statements.settle,
    serves: never,
  });
  const releases = batcher<Versioned<Ownership>, Stored>({
    limit: claimsAtOnce,
    keyOf,
    run: statements.release,
    serves: never,
  });
  const finds = batcher<Versioned<{ readonly key: string }>, Stored>({
    limit: claimsAtOnce,
    keyOf,
    run: statements.find,
    serves: () => true,
  });
  const sweeps = batcher<number, number>({
    limit: 1,
    keyOf: String,
    run: async ([now = 0]) => new Map([[String(now), await statements.sweep(now)]]),
    serves: never,
  });

  return {
    name,
    patience,
    statements,
    claim: async (request) => {
      const stored = await claims.ask(request);
      if (stored === undefined) throw new Fault('unexpected', `The claim of ${request.key} had no answer.`, false);
      return stored;
    },
    settle: (outcome) => outcomes.ask(outcome),
    release: async (ownership) => (await releases.ask(ownership)) !== undefined,
    find: (request) => finds.ask(request),
    retire: (key, now) =>
      statements.retire(key, now).catch((error: unknown) => {
        throw unreachable(place, error);
      }),
    sweep: async (now, isClosing) => {
      let swept = 0;
      for (let portion = sweepPortion; portion === sweepPortion && !isClosing(); swept += portion)
        portion = (await sweeps.ask(now)) ?? 0;
      return swept;
    },
    close: async () => {
      await Promise.all([claims, outcomes, releases, finds, sweeps].map((each) => each.close()));
    },
  };
}
