import { queryOptions } from '@tanstack/react-query';
import { sluice } from './client.js';

/** The schedules that one may control, with the last run of each. */
export const schedulesQuery = () =>
  queryOptions({
    queryKey: ['schedules'],
    queryFn: ({ signal }) => sluice.schedules.list({ signal }),
    refetchInterval: 5_000,
  });
