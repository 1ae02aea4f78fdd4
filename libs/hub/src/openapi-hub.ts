import { ToolUnavailableError } from '@sluice/core';
import type { McpServer } from '@sluice/core';
import { OpenApi } from '@sluice/openapi';
import type { McpHub } from './hub.js';

/** The hub of HTTP APIs with OpenAPI documents. A document is read with discover(), never for a call. */
export function createOpenApiHub(servers: readonly McpServer[]): McpHub {
  const apis = new Map(servers.map((server) => [server.id, new OpenApi(server)]));
  const errors = new Map<string, string | null>();
  let isClosed = false;
  return {
    discover: () =>
      Promise.all(
        [...apis].map(async ([id, api]) => {
          const offer = await api.offer();
          errors.set(id, 'error' in offer ? offer.error : null);
          return offer;
        }),
      ),
    // Each request has a connection of its own.
    connect: () => Promise.resolve(),
    call: async (server, tool, args, { operation, ...options }) => {
      const api = apis.get(server);
      if (api === undefined) throw new ToolUnavailableError(`No server ${server} is configured.`);
      if (operation === undefined) throw new ToolUnavailableError(`The server ${server} has no operation ${tool}.`);
      return api.call(tool, args, { ...options, operation });
    },
    status: () =>
      servers.map(({ id }) => {
        const error = errors.get(id);
        const state = isClosed ? 'closed' : error === undefined ? 'idle' : error === null ? 'ready' : 'waiting';
        return { server: id, state, error: error ?? null };
      }),
    close: async () => {
      isClosed = true;
      await Promise.all([...apis.values()].map((api) => api.close()));
    },
  };
}
