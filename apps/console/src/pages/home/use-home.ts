import type { ListedRun } from '@sluice/client';
import { useQuery } from '@tanstack/react-query';
import { sluice } from '../../data/client.js';

/** So many running runs are counted; where there are more, the page says so. */
export const mostCounted = 200;
/** So many runs are listed. */
const recent = 8;
const refreshMs = 3_000;

/** The runs that have not ended, and the newest ones. */
export function useRunsNow() {
  const running = useQuery({
    queryKey: ['runs', 'running'],
    queryFn: async ({ signal }): Promise<readonly ListedRun[]> => {
      const page = await sluice.runs.list({ outcome: 'running', limit: mostCounted }, { signal }).first();
      return page.items;
    },
    refetchInterval: refreshMs,
  });
  const latest = useQuery({
    queryKey: ['runs', 'latest'],
    queryFn: async ({ signal }): Promise<readonly ListedRun[]> => {
      const page = await sluice.runs.list({ limit: recent }, { signal }).first();
      return page.items;
    },
    refetchInterval: refreshMs,
  });
  return { running: running.data, latest: latest.data, error: latest.error, again: () => void latest.refetch() };
}

/** What the runs that ended today used, by how they ended or what they asked; a day is one in UTC. */
export function useToday(by: 'outcome' | 'agent') {
  return useQuery({
    queryKey: ['usage', 'today', by],
    queryFn: ({ signal }) => sluice.usage.get({ by, since: Date.now() }, { signal }),
    refetchInterval: 15_000,
  });
}
