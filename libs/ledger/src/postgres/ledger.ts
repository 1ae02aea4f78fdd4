import type pg from 'pg';
import { Fault } from '@sluice/core';
import type { Claim, ClaimRequest, Clock, RateAnswer, RateRequest } from '@sluice/core';
import type { StoredLedger } from '../documented.js';
import type { Outage } from './outage.js';
import { countedAtOnce } from './connection.js';
import { belongingOn } from './belonging.js';
import { mayPass, unreachable } from './database-error.js';
import type { DatabaseAddress } from './database-error.js';
import { documentsOn } from './documents.js';
import { Batcher } from './batcher.js';
import type { BatchWork } from './batcher.js';
import { pastCallsOn } from './past-calls.js';
import { ratesOn } from './rates.js';
import { statementsOn, sweepPortion } from './statements.js';
import type { Outcome, Ownership, Stored } from './statements.js';
import { requireMilliseconds, requireText, storedKey } from './stored-text.js';

export interface PostgresLedger extends StoredLedger {
  /**
   * Rejects within two seconds with Fault('ledger_unreachable') if claims cannot be written now: for readiness. Else
   * what time it is there.
   */
  check(): Promise<TimeThere>;
}

/**
 * What time it was at the database, and here when it was asked and when it had answered; milliseconds since the
 * epoch.
 */
export interface TimeThere {
  readonly there: number;
  readonly asked: number;
  readonly answered: number;
}

interface LedgerParts {
  readonly pool: pg.Pool;
  readonly place: DatabaseAddress;
  readonly schema: string;
  readonly outage: Outage;
  /** How long a request waits for an absent database, milliseconds; the try under way comes on top. */
  readonly patienceMs: number;
  readonly clock: Clock;
}

const checkMs = 2_000;
const claimsAtOnce = 500;
/** Fewer, since an outcome holds what a tool returned. */
const outcomesAtOnce = 50;

/** The ledger on a pool, which it ends when it is closed. */
export function ledgerOn({ pool, place, schema, outage, patienceMs, clock }: LedgerParts): PostgresLedger {
  const statements = statementsOn(pool, schema);
  const rates = ratesOn(pool, schema);
  const patience = { forMs: patienceMs, outage, mayPass, faultOf: (error: unknown) => unreachable(place, error) };
  const batcher = <Asked, Answer>(work: BatchWork<Asked, Answer>): Batcher<Asked, Answer> =>
    new Batcher(work, patience);
  const keyOf = ({ key }: { readonly key: string }): string => storedKey(key);
  const never = (): boolean => false;

  // A claim that broke off may be in force already. Asking again is safe: it is the same owner's, who then finds it.
  const claims = batcher<ClaimRequest, Stored>({
    limit: claimsAtOnce,
    keyOf,
    run: (batch) => statements.claim(batch),
    serves: (claim, next) => claim !== undefined && claim.expiresAt > next.now,
  });
  const outcomes = batcher<Outcome, Stored>({ limit: outcomesAtOnce, keyOf, run: statements.settle, serves: never });
  const releases = batcher<Ownership, Stored>({ limit: claimsAtOnce, keyOf, run: statements.release, serves: never });
  const finds = batcher<string, Stored>({
    limit: claimsAtOnce,
    keyOf: storedKey,
    run: statements.find,
    serves: () => true,
  });
  const sweeps = batcher<number, number>({
    limit: 1,
    keyOf: String,
    run: async ([now = 0]) => new Map([[String(now), await statements.sweep(now)]]),
    serves: never,
  });
  // What broke off may have counted: it is counted again, which lets no call pass that should not.
  const counts = batcher<RateRequest, RateAnswer>({
    limit: countedAtOnce,
    keyOf,
    run: async (batch) =>
      new Map(await Promise.all(batch.map(async (asked) => [storedKey(asked.key), await rates.count(asked)] as const))),
    serves: never,
  });
  const batchers = [claims, outcomes, releases, finds, sweeps, counts];

  let closing: Promise<void> | undefined;
  const requireOpen = (): void => {
    if (closing !== undefined) throw new Fault('ledger_unreachable', 'The ledger was closed by this process.', false);
  };

  const documents = documentsOn(pool, schema, patience, requireOpen);
  const past = pastCallsOn(pool, schema, { statements, patience, requireOpen });

  const find = async (key: string): Promise<Claim | undefined> => {
    requireOpen();
    const stored = await finds.ask(key);
    return stored && { key, ...stored };
  };

  let probe: Promise<TimeThere> | undefined;
  const ask = async (): Promise<TimeThere> => {
    const asked = clock.now();
    const there = await statements.probe();
    return { there, asked, answered: clock.now() };
  };
  const probed = (): Promise<TimeThere> => (probe ??= ask().finally(() => (probe = undefined)));

  return {
    claim: async (request) => {
      requireOpen();
      requireText('The owner of a claim', request.owner);
      requireMilliseconds('The time of a claim', request.now);
      requireMilliseconds('The time that a claim lasts', request.ttlMs);
      const stored = await claims.ask(request);
      if (stored === undefined) throw new Fault('unexpected', `The claim of ${request.key} had no answer.`, false);
      return { key: request.key, ...stored };
    },
    settle: async (key, owner, value) => {
      requireOpen();
      requireText('The owner of a claim', owner);
      requireText('The outcome of a claim', value);
      const stored = await outcomes.ask({ key, owner, value });
      if (stored === undefined) throw notOwned(key, owner, await find(key));
      return { key, ...stored };
    },
    /** After a broken connection false may also mean that the first try took it back. */
    release: async (key, owner) => {
      requireOpen();
      requireText('The owner of a claim', owner);
      return (await releases.ask({ key, owner })) !== undefined;
    },
    find,
    documents,
    past,
    belonging: belongingOn(pool, schema, { place, requireOpen }),
    sweep: async (now) => {
      requireOpen();
      requireMilliseconds('The time of a sweep', now);
      let swept = 0;
      for (let portion = sweepPortion; portion === sweepPortion && closing === undefined; swept += portion)
        portion = (await sweeps.ask(now)) ?? 0;
      return swept;
    },
    take: async (request) => {
      requireOpen();
      const answer = await counts.ask(request);
      if (answer === undefined) throw new Fault('unexpected', `The count of ${request.key} had no answer.`, false);
      return answer;
    },
    sweepRates: async (now) => {
      requireOpen();
      requireMilliseconds('The time of a sweep', now);
      await rates.sweep(now).catch((error: unknown) => {
        throw unreachable(place, error);
      });
    },
    check: async () => {
      requireOpen();
      return within(checkMs, probed()).catch((error: unknown) => {
        throw unreachable(place, error);
      });
    },
    close: () =>
      (closing ??= Promise.all([...batchers, documents, past].map((each) => each.close()))
        .then(() => pool.end())
        .then(() => undefined)),
  };
}

/** The promise, or an error when the time is over; the promise then goes on unwatched, and may fail. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timeout of ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function notOwned(key: string, owner: string, claim: Claim | undefined): Fault {
  const why = claim === undefined ? 'it is gone' : `it is held by ${claim.owner}`;
  return new Fault('unexpected', `The outcome of ${key} cannot be written for ${owner}: ${why}.`, false);
}
