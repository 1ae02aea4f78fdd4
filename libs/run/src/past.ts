import { pastFactName, pastFactText, itemOf, scopeOf } from '@sluice/core';
import type {
  NeededPast,
  Evaluator,
  PastCalls,
  PastCaller,
  Principal,
  Reservation,
  RunConditions,
  RunState,
} from '@sluice/core';
import { agentOf } from './conditions.js';

/** Whose calls the past is counted by, for a run of this caller. */
export function pastCallerOf(
  { principal, agent }: { readonly principal: Principal | null; readonly agent: string },
  { requestId, sessionId }: { readonly requestId: string; readonly sessionId: string },
): PastCaller {
  const { tenantId = '', actorId = '', subjectId = null } = principal ?? {};
  return { tenantId, userId: subjectId ?? actorId, sessionId, requestId, agent };
}

/**
 * Finds out what rules ask of calls beyond the run’s record; reads nothing where none asks. `callKey`: of a call, which
 * does not count itself where it goes on, or is tried again.
 */
export async function readPast(
  asked: readonly NeededPast[],
  caller: PastCaller,
  at: number,
  past: Pick<PastCalls, 'read'>,
  callKey: string | null = null,
): Promise<Readonly<Record<string, string>>> {
  if (asked.length === 0) return {};
  const items = asked.map(({ within, inLastMs, toolId }) => {
    return { scope: scopeOf(within, caller), item: itemOf('calls', toolId), since: at - inLastMs };
  });
  const counts = await past.read(items, at, callKey);
  return Object.fromEntries(
    asked.flatMap((one, place) => {
      const count = counts[place];
      return count === undefined ? [] : [[pastFactName(one), pastFactText(count)]];
    }),
  );
}

/** The same for the filter’s decision on a run. */
export function pastOfRun(
  { request, run }: Parameters<typeof agentOf>[0] & { readonly run: Pick<RunState, 'principal'> },
  ids: Parameters<typeof pastCallerOf>[1],
  evaluator: Evaluator,
  at: number,
  past: Pick<PastCalls, 'read'>,
): Promise<RunConditions['facts']> {
  const asked = evaluator.past.asked();
  if (asked.length === 0) return Promise.resolve(null);
  const agent = agentOf({ request, run }, evaluator);
  return readPast(asked, pastCallerOf({ principal: run.principal, agent }, ids), at, past);
}

/** What was used of each of a call’s totals, read without reserving anything: for a call that does not begin. */
export async function usedOf(
  { limits }: { readonly limits: readonly Pick<Reservation['limits'][number], 'scope' | 'items' | 'since'>[] },
  at: number,
  past: Pick<PastCalls, 'read'>,
): Promise<readonly bigint[]> {
  const items = limits.flatMap(({ scope, items: all, since }, place) =>
    all.map((item) => ({ scope, item, since, place })),
  );
  const counts = await past.read(items, at);
  const used = limits.map(() => 0n);
  for (const [n, { place }] of items.entries()) used[place] = (used[place] ?? 0n) + (counts[n]?.amount ?? 0n);
  return used;
}

/** The same for a run that this caller would begin; of a session where one is named. */
export function pastOfCaller(
  principal: Principal,
  sessionId: string | null,
  evaluator: Pick<Evaluator, 'past'>,
  at: number,
  past: Pick<PastCalls, 'read'>,
): Promise<RunConditions['facts']> {
  const asked = evaluator.past.asked();
  if (asked.length === 0) return Promise.resolve(null);
  const caller = pastCallerOf({ principal, agent: '' }, { requestId: '', sessionId: sessionId ?? '' });
  return readPast(asked, caller, at, past);
}
