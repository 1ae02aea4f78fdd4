import type { McpOffer } from './offer.js';
import { join, quote } from './problems.js';
import type { Finding, McpServer } from './types.js';

/** What is known of MCP servers at compile time. */
export interface AboutServers {
  readonly offers: readonly McpOffer[];
  /** Whether an environment variable has a value here; absent where that is unknown. */
  isSet?(variable: string): boolean;
}

/** What an author will want to know of the MCP servers themselves. */
export function findAboutServers(servers: readonly McpServer[], given: AboutServers): readonly Finding[] {
  return servers.flatMap((server) => [...aboutVariables(server, given), ...aboutList(server, given)]);
}

/** The executor may have what is missing here, so it is no mistake. */
function aboutVariables({ id, env, connectionEnv }: McpServer, given: AboutServers): readonly Finding[] {
  return env.flatMap((name, place): readonly Finding[] => {
    if (name === connectionEnv || (given.isSet?.(name) ?? true)) return [];
    const message = `The variable ${name} is not set here: where it is not set either, the executor starts the server ${quote(id)} without it.`;
    return [{ kind: 'unset_variable', path: `${pathOf(id)}.env[${String(place)}]`, message }];
  });
}

function aboutList({ id }: McpServer, { offers }: AboutServers): readonly Finding[] {
  return offers.flatMap((offer): readonly Finding[] => {
    if (offer.server !== id || !('tools' in offer) || offer.endless === undefined) return [];
    const message = `The server ${quote(id)} ${offer.endless}: only the ${String(offer.tools.length)} tools that were read are known.`;
    return [{ kind: 'endless_list', path: pathOf(id), message }];
  });
}

function pathOf(server: string): string {
  return join('mcp.servers', server);
}
