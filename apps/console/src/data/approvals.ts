import { ConnectionError } from '@sluice/client';
import type { Approval, ListedStanding, WaitingApproval } from '@sluice/client';
import { queryOptions } from '@tanstack/react-query';
import { useEffect } from 'react';
import { sluice } from './client.js';
import { queries } from './queries.js';

const waitingKey = ['approvals', 'waiting'] as const;

/** The calls that wait for a decision of the person who is signed in, the oldest first; one page of them. */
export const waitingApprovals = () =>
  queryOptions({
    queryKey: waitingKey,
    queryFn: async ({ signal }): Promise<readonly WaitingApproval[]> => {
      const found = await sluice.approvals.list({ limit: 100 }, { signal }).first();
      return found.items;
    },
    refetchInterval: 5_000,
  });

/** One approval, before the decision and behind it; asked again until nothing more can come. */
export const oneApproval = (id: string) =>
  queryOptions({
    queryKey: ['approvals', 'one', id],
    queryFn: ({ signal }): Promise<Approval> => sluice.approvals.get(id, { signal }),
    refetchInterval: ({ state: { data } }) => (data !== undefined && isOver(data) ? false : 2_500),
  });

/** Approvals of calls to come, in the order in which they were given. */
export const standingApprovals = () =>
  queryOptions({
    queryKey: ['approvals', 'standing'],
    queryFn: async ({ signal }): Promise<readonly ListedStanding[]> =>
      (await sluice.approvals.standing({ signal })).standing_approvals,
    refetchInterval: 5_000,
  });

function isOver({ decision, call, run_ended: ended }: Approval): boolean {
  return ended !== null || (decision !== null && call !== null);
}

/**
 * Follows the stream of approvals while the tab is visible, so that a new call is listed at once. A hidden tab holds
 * no stream, since a browser has few connections for all of its tabs.
 */
export function useLiveApprovals(isApprover: boolean): void {
  useEffect(() => {
    if (!isApprover) return undefined;
    let leaving: AbortController | null = null;
    const look = (): void => {
      if (document.visibilityState === 'hidden') {
        leaving?.abort();
        leaving = null;
      } else if (leaving === null) {
        leaving = new AbortController();
        void follow(leaving.signal);
      }
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      leaving?.abort();
    };
  }, [isApprover]);
}

async function follow(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const waiting of sluice.approvals.stream({ signal })) add(waiting);
    } catch (error) {
      // The list is read again anyway, and says what is wrong.
      if (signal.aborted || !(error instanceof ConnectionError)) return;
    }
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
}

function add(waiting: WaitingApproval): void {
  queries.setQueryData<readonly WaitingApproval[]>(waitingKey, (known) => {
    if (known === undefined) return known;
    const isKnown = known.some(({ approval }) => isSame(approval, waiting.approval));
    return isKnown ? known.map((one) => (isSame(one.approval, waiting.approval) ? waiting : one)) : [...known, waiting];
  });
}

const isSame = (one: WaitingApproval['approval'], other: WaitingApproval['approval']): boolean =>
  one.approval_id === other.approval_id;
