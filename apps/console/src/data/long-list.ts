import type { Page, Pages } from '@sluice/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';

/** A list of any length, read page by page as the reader comes to its end; read again on demand alone. */
export function useLongList<Item>(key: readonly unknown[], pagesOf: (signal: AbortSignal) => Pages<Item>) {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }): Promise<Page<Item>> => {
      const pages = pagesOf(signal);
      return pageParam === null ? pages.first() : pages.after(pageParam);
    },
    initialPageParam: null as string | number | null,
    getNextPageParam: ({ next }) => next,
    staleTime: 60_000,
    refetchOnWindowFocus: false,
  });
  const { data, error, refetch, hasNextPage, isFetchingNextPage, isFetching, fetchNextPage } = query;
  const items = useMemo(() => data?.pages.flatMap((page) => page.items), [data]);
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && error === null) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, error, fetchNextPage]);
  const again = useCallback(() => void refetch(), [refetch]);
  return { items, error, more, again, isReading: isFetching, hasMore: hasNextPage };
}
