import { queryOptions } from '@tanstack/react-query';
import type { WaitingApproval } from '@sluice/client';
import { sluice } from './client.js';

/** The calls that wait for a decision of the person who is signed in, the oldest first; one page of them. */
export const waitingApprovals = () =>
  queryOptions({
    queryKey: ['approvals', 'waiting'],
    queryFn: async ({ signal }): Promise<readonly WaitingApproval[]> => {
      const found = await sluice.approvals.list({ limit: 100 }, { signal }).first();
      return found.items;
    },
    refetchInterval: 5_000,
  });
