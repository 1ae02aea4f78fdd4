import type { DatabaseSync } from 'node:sqlite';
import type { Claim, ClaimRequest, PastCalls, PastCount, PastLimit } from '@sluice/core';
import { firstOver } from '../past-limits.js';
import { inPortions, portion } from './portions.js';
import { storedKey } from './stored-key.js';

/** The ledger’s own ways to its file, and to its claims within a transaction. */
interface Ways {
  readonly write: <T>(work: () => T) => Promise<T>;
  readonly read: <T>(work: () => T) => Promise<T>;
  readonly claimNow: (request: ClaimRequest) => Claim;
  readonly claimInForce: (key: string, now: number) => Claim | undefined;
}

/** In two parts: a sum of integers that has no room ends the statement. */
const amountSum = 'coalesce(sum(amount / 1000000), 0) AS units, coalesce(sum(amount % 1000000), 0) AS millionths';

function amountOf(row: Readonly<Record<string, unknown>>): bigint {
  return (row['units'] as bigint) * 1_000_000n + (row['millionths'] as bigint);
}

/** An aggregate has a row in any case. */
const noRow = { calls: 0n, succeeded: 0n, running: 0n, last: null, units: 0n, millionths: 0n };

/** Calls of the past in the ledger’s file. Writers come one after another, so no two pass a limit together. */
export function pastCallsOn(database: DatabaseSync, ways: Ways): PastCalls {
  const sum = `
    SELECT ${amountSum} FROM past_calls
    WHERE scope = :scope AND item = :item AND at > :since AND id < :before`;
  const used = database.prepare(sum);
  const running = database.prepare(`${sum} AND outcome IS NULL AND running_until > :now`);
  const own = database.prepare(
    'SELECT min(id) AS id, min(outcome IS NOT NULL) AS ended FROM past_calls WHERE call_key = ?',
  );
  const put = database.prepare(`
    INSERT INTO past_calls (call_key, scope, item, amount, at, running_until, expires_at)
    VALUES (:callKey, :scope, :item, :amount, :at, :runningUntil, :expiresAt)
  `);
  const end = database.prepare('UPDATE past_calls SET outcome = ? WHERE call_key = ? AND outcome IS NULL');
  const keepRunning = database.prepare(
    'UPDATE past_calls SET running_until = max(running_until, ?) WHERE call_key = ? AND outcome IS NULL',
  );
  const settle = database.prepare(
    'UPDATE past_calls SET amount = ? WHERE call_key = ? AND item = ? AND outcome IS NULL',
  );
  const giveBack = database.prepare('DELETE FROM past_calls WHERE call_key = ? AND outcome IS NULL');
  const count = database.prepare(`
    SELECT count(*) AS calls, coalesce(sum(outcome = 'succeeded'), 0) AS succeeded,
      coalesce(sum(outcome IS NULL AND running_until > :now), 0) AS running,
      ${amountSum},
      (SELECT outcome FROM past_calls WHERE scope = :scope AND item = :item AND at > :since AND outcome IS NOT NULL
        AND call_key IS NOT :except ORDER BY id DESC LIMIT 1) AS last
    FROM past_calls WHERE scope = :scope AND item = :item AND at > :since AND call_key IS NOT :except
  `);
  const newest = database.prepare(
    'SELECT amount, at FROM past_calls WHERE scope = :scope AND item = :item AND at > :since ORDER BY at DESC, id DESC',
  );
  // A sum may be beyond what a number holds.
  for (const one of [used, running, count, newest]) one.setReadBigInts(true);
  const sweep = database.prepare(
    `DELETE FROM past_calls WHERE id IN (SELECT id FROM past_calls WHERE expires_at <= ? ORDER BY expires_at LIMIT ${portion})`,
  );

  const usedBy = ({ scope, items, since, isRunningOnly }: PastLimit, before: number, now: number): bigint =>
    items.reduce((total, item) => {
      const asked = { scope: storedKey(scope), item: storedKey(item), since, before };
      const row = isRunningOnly ? running.get({ ...asked, now }) : used.get(asked);
      return total + amountOf(row ?? noRow);
    }, 0n);

  return {
    begin: ({ callKey, now, keepMs, runningMs, marks, limits, claim }) =>
      ways.write(() => {
        const held = claim === null ? undefined : ways.claimInForce(claim.key, claim.now);
        if (held !== undefined && held.owner !== claim?.owner) return { kind: 'held', claim: held };
        const before = own.get(storedKey(callKey));
        const mine = (before?.['id'] as number | null | undefined) ?? null;
        const amounts = limits.map((limit) => usedBy(limit, mine ?? Number.MAX_SAFE_INTEGER, now));
        // What it reserved once it may use, whatever was counted since.
        const limit = mine === null ? firstOver(limits, amounts) : -1;
        if (limit !== -1) return { kind: 'over', used: amounts, limit };
        if (mine === null)
          for (const { scope, item, amount } of marks)
            put.run({
              ...{ callKey: storedKey(callKey), scope: storedKey(scope), item: storedKey(item), amount },
              ...{ at: now, runningUntil: now + runningMs, expiresAt: now + keepMs },
            });
        const claimed = claim === null ? null : ways.claimNow(claim);
        return { kind: 'begun', used: amounts, claim: claimed, ...(before?.['ended'] === 1 ? { hasEnded: true } : {}) };
      }),
    end: (callKey, outcome, amounts = {}) =>
      ways.write(() => {
        const key = storedKey(callKey);
        if (outcome === 'none') return void giveBack.run(key);
        for (const [item, amount] of Object.entries(amounts)) settle.run(amount, key, storedKey(item));
        end.run(outcome, key);
      }),
    blockedBy: ({ scope, items, since, adds, atMost }) =>
      ways.read(() => {
        if (adds > atMost) return null;
        const marks = items.flatMap((item) =>
          newest.all({ scope: storedKey(scope), item: storedKey(item), since }).map(({ amount, at }) => {
            return { amount: amount as bigint, at: Number(at) };
          }),
        );
        if (items.length > 1) marks.sort((one, other) => other.at - one.at);
        let sum = adds;
        return marks.find(({ amount }) => (sum += amount) > atMost)?.at ?? null;
      }),
    keepRunning: (callKey, until) => ways.write(() => void keepRunning.run(until, storedKey(callKey))),
    read: (asked, now, except = null) =>
      ways.read(() =>
        asked.map(({ scope, item, since }): PastCount => {
          const others = { since, now, except: except === null ? null : storedKey(except) };
          const row = count.get({ scope: storedKey(scope), item: storedKey(item), ...others }) ?? noRow;
          return {
            calls: Number(row['calls']),
            succeeded: Number(row['succeeded']),
            running: Number(row['running']),
            last: row['last'] as PastCount['last'],
            amount: amountOf(row),
          };
        }),
      ),
    sweep: async (now) => void (await inPortions(() => ways.write(() => sweep.run(now).changes))),
  };
}
