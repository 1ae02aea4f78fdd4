import { queryOptions } from '@tanstack/react-query';
import { sluice } from './client.js';

const refetchInterval = 5_000;

/** The MCP servers as the executors report them. */
export const serversQuery = () =>
  queryOptions({ queryKey: ['servers'], queryFn: ({ signal }) => sluice.servers.list({ signal }), refetchInterval });

/** The connections that calls may use. */
export const connectionsQuery = () =>
  queryOptions({ queryKey: ['connections'], queryFn: ({ signal }) => sluice.connections.list({ signal }) });
