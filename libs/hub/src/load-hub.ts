import type { McpServer } from '@sluice/core';
import type { McpHubParts } from './create-hub.js';
import type { McpServerStatus, WatchingHub } from './hub.js';
import { createOpenApiHub } from './openapi-hub.js';

export type { McpHubParts };

/** The hub of these servers, each spoken to in its way. */
export function createMcpHub(servers: readonly McpServer[], given: McpHubParts): WatchingHub {
  const described = servers.filter(({ openapi }) => openapi !== undefined);
  const others = createMcpClients(
    servers.filter(({ openapi }) => openapi === undefined),
    given,
  );
  if (described.length === 0) return others;
  const hub = createOpenApiHub(described);
  const isDescribed = (id: string): boolean => described.some((server) => server.id === id);
  return {
    discover: async () => (await Promise.all([others.discover(), hub.discover()])).flat(),
    connect: (server, ...connect) => (isDescribed(server) ? hub : others).connect(server, ...connect),
    call: (server, ...call) => (isDescribed(server) ? hub : others).call(server, ...call),
    follow: (server, uris, isLate) => others.follow(server, uris, isLate),
    status: () => [...others.status(), ...hub.status()],
    close: async () => void (await Promise.all([others.close(), hub.close()])),
  };
}

/**
 * The hub of MCP servers (create-hub.ts). What it connects with, the SDK, is loaded with the first discover(),
 * connect() or call(): a service without MCP servers is seven megabytes smaller.
 */
function createMcpClients(servers: readonly McpServer[], given: McpHubParts): WatchingHub {
  let loading: Promise<WatchingHub> | undefined;
  let loaded: WatchingHub | undefined;
  let closed = false;
  async function load(): Promise<WatchingHub> {
    const { createClientHub } = await import('./create-hub.js');
    loaded = createClientHub(servers, given);
    if (closed) await loaded.close();
    return loaded;
  }
  // What could not be loaded is tried again at the next call.
  const hub = (): Promise<WatchingHub> =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
  /** Loading takes its time from what is done then. */
  const inTime = async <Options extends { readonly timeoutMs: number }, T>(
    options: Options,
    work: (options: Options, of: WatchingHub) => Promise<T>,
  ): Promise<T> => {
    if (loaded !== undefined) return work(options, loaded);
    const began = performance.now();
    const hubLoaded = await hub();
    return work({ ...options, timeoutMs: Math.max(1, options.timeoutMs - (performance.now() - began)) }, hubLoaded);
  };
  const unloaded = (): readonly McpServerStatus[] =>
    servers.map(({ id }) => ({ server: id, state: closed ? 'closed' : 'idle', error: null }));
  return {
    discover: async () => (servers.length === 0 ? [] : (await hub()).discover()),
    connect: (server, tool, options) => inTime(options, (own, of) => of.connect(server, tool, own)),
    call: (server, tool, args, options) => inTime(options, (own, of) => of.call(server, tool, args, own)),
    follow: (server, uris, isLate) => {
      if (loaded !== undefined) loaded.follow(server, uris, isLate);
      else if (uris.size > 0 && !closed)
        void hub()
          .then((hubLoaded) => hubLoaded.follow(server, uris, isLate))
          .catch(() => undefined);
    },
    status: () => loaded?.status() ?? unloaded(),
    close: async () => {
      closed = true;
      await (await loading?.catch(() => undefined))?.close();
    },
  };
}
