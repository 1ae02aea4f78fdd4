import { queryOptions } from '@tanstack/react-query';
import { sluice } from './client.js';

const refetchInterval = 5_000;

/** Who is notified of what. */
export const subscriptionsQuery = () =>
  queryOptions({
    ...{ queryKey: ['subscriptions'], refetchInterval },
    queryFn: ({ signal }) => sluice.subscriptions.list({ signal }),
  });

/** The latest deliveries of a subscription, and what it did not receive. */
export const deliveriesQuery = (name: string) =>
  queryOptions({
    ...{ queryKey: ['deliveries', name], refetchInterval },
    queryFn: ({ signal }) => sluice.subscriptions.deliveries(name, { signal }),
  });
