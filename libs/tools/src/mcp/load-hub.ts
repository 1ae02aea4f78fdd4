import type { McpServer } from '@sluice/core';
import type { McpHubParts } from './create-hub.js';
import type { McpHub, McpServerStatus } from './hub.js';

export type { McpHubParts };

/**
 * The hub of these servers (create-hub.ts). What it connects with, the SDK, is loaded with the first discover() or call(): a service
 * without MCP servers is ten megabytes smaller.
 */
export function createMcpHub(servers: readonly McpServer[], given: McpHubParts): McpHub {
  let loading: Promise<McpHub> | undefined;
  let loaded: McpHub | undefined;
  let closed = false;
  async function load(): Promise<McpHub> {
    const { createClientHub } = await import('./create-hub.js');
    loaded = createClientHub(servers, given);
    if (closed) await loaded.close();
    return loaded;
  }
  const hub = (): Promise<McpHub> => (loading ??= load());
  const unloaded = (): readonly McpServerStatus[] =>
    servers.map(({ id }) => ({ server: id, state: closed ? 'closed' : 'idle', error: null }));
  return {
    discover: async () => (servers.length === 0 ? [] : (await hub()).discover()),
    call: (...asked) => loaded?.call(...asked) ?? hub().then((one) => one.call(...asked)),
    status: () => loaded?.status() ?? unloaded(),
    close: async () => {
      closed = true;
      if (loading !== undefined) await (await loading).close();
    },
  };
}
