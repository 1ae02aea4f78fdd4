import { Fault } from '@sluice/core';
import type { Claim, Clock, RateAnswer, RateRequest } from '@sluice/core';
import type { LedgerSpreading, StoredLedger } from '../documented.js';
import { countedAtOnce } from './connection.js';
import { belongingOn } from './belonging.js';
import { mayPass, unreachable } from './database-error.js';
import { documentsOn } from './documents.js';
import { Batcher } from './batcher.js';
import { claimStoreOn } from './claim-store.js';
import type { LedgerDatabase } from './claim-store.js';
import { pastCallsOn } from './past-calls.js';
import { SpreadClaims } from './spread-claims.js';
import type { Placement } from './placement.js';
import { ratesOn } from './rates.js';
import { statementsOn } from './statements.js';
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

export interface LedgerParts {
  /** The first one has all that is not a claim. */
  readonly databases: readonly [LedgerDatabase, ...LedgerDatabase[]];
  readonly schema: string;
  /** How long a request waits for an absent database, milliseconds; the try under way comes on top. */
  readonly patienceMs: number;
  readonly clock: Clock;
  readonly placement: Placement;
  /** What is in force now; throws Fault('ledger_unreachable') where this process cannot work by it. */
  readPlacement(): Promise<Placement>;
  readonly spreading: LedgerSpreading;
}

const checkMs = 2_000;

/** The ledger on the pools of its databases, which it ends when it is closed. */
export function ledgerOn(parts: LedgerParts): PostgresLedger {
  const { databases, schema, patienceMs, clock, spreading } = parts;
  const stores = databases.map((database) => claimStoreOn(database, schema, patienceMs));
  const placed = new SpreadClaims({ ...parts, stores: new Map(stores.map((store) => [store.name, store])) });
  const [{ pool, place, outage }] = databases;
  const rates = ratesOn(pool, schema);
  const patience = { forMs: patienceMs, outage, mayPass, faultOf: (error: unknown) => unreachable(place, error) };
  // What broke off may have counted: it is counted again, which lets no call pass that should not.
  const counts = new Batcher<RateRequest, RateAnswer>(
    {
      limit: countedAtOnce,
      keyOf: ({ key }) => storedKey(key),
      run: async (batch) =>
        new Map(
          await Promise.all(batch.map(async (asked) => [storedKey(asked.key), await rates.count(asked)] as const)),
        ),
      serves: () => false,
    },
    patience,
  );

  let closing: Promise<void> | undefined;
  const requireOpen = (): void => {
    if (closing !== undefined) throw new Fault('ledger_unreachable', 'The ledger was closed by this process.', false);
  };

  const documents = documentsOn(pool, schema, patience, requireOpen);
  const statements = statementsOn(pool, schema);
  const past = pastCallsOn(pool, schema, { statements, patience, requireOpen });

  const find = async (key: string): Promise<Claim | undefined> => {
    requireOpen();
    return placed.find(key);
  };

  const probes = databases.map((database) => probeOf(database, schema, clock));

  return {
    claim: async (request) => {
      requireOpen();
      requireText('The owner of a claim', request.owner);
      requireMilliseconds('The time of a claim', request.now);
      requireMilliseconds('The time that a claim lasts', request.ttlMs);
      if (request.value !== undefined) requireText('The outcome of a claim', request.value);
      return placed.claim(request);
    },
    settle: async (key, owner, value) => {
      requireOpen();
      requireText('The owner of a claim', owner);
      requireText('The outcome of a claim', value);
      const stored = await placed.settle(key, owner, value);
      if (stored === undefined) throw notOwned(key, owner, await find(key));
      return { key, ...stored };
    },
    /** After a broken connection false may also mean that the first try took it back. */
    release: async (key, owner) => {
      requireOpen();
      requireText('The owner of a claim', owner);
      return placed.release(key, owner);
    },
    find,
    documents,
    past: { ...past, begin: (request) => placed.begin(past, request) },
    spreading,
    belonging: belongingOn(pool, schema, { place, requireOpen }),
    sweep: async (now) => {
      requireOpen();
      requireMilliseconds('The time of a sweep', now);
      const swept = await Promise.allSettled(stores.map((store) => store.sweep(now, () => closing !== undefined)));
      const failed = swept.find((one) => one.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return swept.reduce((sum, one) => sum + (one.status === 'fulfilled' ? one.value : 0), 0);
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
      const [time] = await Promise.all(probes.map((each) => each()));
      // A process that claims nothing hears of another placement here.
      await placed.refresh();
      return time as TimeThere;
    },
    close: () =>
      (closing ??= Promise.all([...stores, counts, documents, past].map((each) => each.close()))
        .then(() => Promise.all(databases.map((database) => database.pool.end())))
        .then(() => undefined)),
  };
}

/** Asks one at a time. */
function probeOf({ pool, place }: LedgerDatabase, schema: string, clock: Clock): () => Promise<TimeThere> {
  const { probe } = statementsOn(pool, schema);
  const ask = async (): Promise<TimeThere> => {
    const asked = clock.now();
    const there = await probe();
    return { there, asked, answered: clock.now() };
  };
  let asking: Promise<TimeThere> | undefined;
  return () =>
    within(checkMs, (asking ??= ask().finally(() => (asking = undefined)))).catch((error: unknown) => {
      throw unreachable(place, error);
    });
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
