import { ProblemError } from '@sluice/client';
import { QueryCache, QueryClient } from '@tanstack/react-query';
import { session } from '../session/session.js';

/** What was read, for all pages. A refusal is shown at once; where no answer came, it is asked again. */
export const queries = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      if (error instanceof ProblemError && error.status === 401) session.expire(error.message);
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      networkMode: 'always',
      refetchOnWindowFocus: true,
      retry: (failures, error) => !(error instanceof ProblemError) && failures < 3,
      retryDelay: (failures) => Math.min(8_000, 500 * 2 ** failures),
    },
    mutations: { networkMode: 'always' },
  },
});
