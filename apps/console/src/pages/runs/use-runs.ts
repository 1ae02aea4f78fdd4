import { useInfiniteQuery } from '@tanstack/react-query';
import type { InfiniteData } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import type { ListedRun, ListRunsQuery, Page } from '@sluice/client';
import { sluice } from '../../data/client.js';
import { queries } from '../../data/queries.js';
import { newTo, runsOf, withLater } from './newest.js';
import type { RunFilters } from './search.js';
import { useChanges } from './use-changes.js';

const pageSize = 100;

type Cursor = string | number | null;

interface Runs {
  readonly runs: readonly ListedRun[];
  /** How many runs began since the list was read that are not shown yet. */
  readonly waiting: number;
  readonly showNew: () => void;
  readonly more: () => void;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly again: () => void;
}

/**
 * The runs that match, the newest first, page by page as they are scrolled to. What changes is
 * followed: a run changes in its row, and new runs are shown where `takeNew` says so, so that no row moves under the
 * pointer.
 */
export function useRuns(filters: RunFilters, takeNew: boolean): Runs {
  const query = queryOf(filters);
  const key = ['runs', 'list', query];
  const list = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }): Promise<Page<ListedRun>> => {
      const pages = sluice.runs.list(query, { signal });
      return pageParam === null ? pages.first() : pages.after(pageParam);
    },
    initialPageParam: null as Cursor,
    getNextPageParam: ({ next }) => next,
    // What changes is followed below.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
  const later = useChanges(query, list.isSuccess);

  const add = (taking: boolean): void => {
    const read = queries.getQueryData<InfiniteData<Page<ListedRun>, Cursor>>(key);
    if (read === undefined) return;
    const next = withLater(read, later, taking);
    if (next === null) void queries.resetQueries({ queryKey: key });
    else if (next !== read) queries.setQueryData(key, next);
  };
  useEffect(() => add(takeNew), [later, takeNew]);

  const runs = useMemo(() => (list.data === undefined ? [] : runsOf(list.data)), [list.data]);
  return {
    runs,
    waiting: list.data === undefined ? 0 : newTo(list.data, later.runs).length,
    showNew: () => add(true),
    more: () => {
      if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
    },
    hasMore: list.hasNextPage,
    isLoading: list.isPending,
    error: list.data === undefined ? list.error : null,
    again: () => void list.refetch(),
  };
}

function queryOf({ session, ...filters }: RunFilters): Omit<ListRunsQuery, 'cursor'> {
  return { ...filters, ...(session === undefined ? {} : { session_id: session }), limit: pageSize };
}
