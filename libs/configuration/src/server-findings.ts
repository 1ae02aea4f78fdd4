import { quote } from '@sluice/core';
import type { Finding, McpOffer, McpServer } from '@sluice/core';
import { serversOfPatterns } from './many-tools.js';
import { join } from './problems.js';
import { textFaults } from '@sluice/schemas';

/** Suspect texts of one server beside its tools that are named. */
const shownTexts = 5;

/** What is known of MCP servers at compile time. */
interface AboutServers {
  readonly offers: readonly McpOffer[];
  /** Whether an environment variable has a value here; absent where that is unknown. */
  isSet?(variable: string): boolean;
}

/** What an author will want to know of the MCP servers themselves. */
export function findAboutServers(servers: readonly McpServer[], given: AboutServers, raw: unknown): readonly Finding[] {
  const open = serversOfPatterns(raw);
  return servers.flatMap((server) => [
    ...aboutVariables(server, given),
    ...aboutList(server, given),
    ...aboutNames(server, given),
    ...aboutTexts(server, given),
    ...(open.includes(server.id) ? aboutPatterns(server, given) : []),
  ]);
}

/** The executor may have what is missing here, so it is no mistake. */
function aboutVariables(server: McpServer, given: AboutServers): readonly Finding[] {
  const { id, env, connectionEnv } = server;
  return env.flatMap((name, place): readonly Finding[] => {
    if (name === connectionEnv || (given.isSet?.(name) ?? true)) return [];
    const message = `The variable ${name} is not set here: where it is not set either, the executor starts the server ${quote(id)} without it.`;
    return [{ kind: 'unset_variable', path: `${pathOf(server)}.env[${String(place)}]`, message }];
  });
}

function aboutList(server: McpServer, { offers }: AboutServers): readonly Finding[] {
  const { id } = server;
  return offers.flatMap((offer): readonly Finding[] => {
    if (offer.server !== id || !('tools' in offer) || offer.endless === undefined) return [];
    const message = `The server ${quote(id)} ${offer.endless}: only the ${String(offer.tools.length)} tools that were read are known.`;
    return [{ kind: 'endless_list', path: pathOf(server), message }];
  });
}

/** What has no name cannot be named in a list, nor be called. */
function aboutNames(server: McpServer, { offers }: AboutServers): readonly Finding[] {
  const { id } = server;
  return offers.flatMap((offer): readonly Finding[] => {
    if (offer.server !== id || 'error' in offer) return [];
    const nameless = offer.tools.filter(({ name }) => name === '').length;
    if (nameless === 0) return [];
    const tools = nameless === 1 ? 'a tool' : `${String(nameless)} tools`;
    const message = `The server ${quote(id)} offers ${tools} without a name: not offered, its author has to mend that.`;
    return [{ kind: 'unavailable', path: pathOf(server), message }];
  });
}

/** Its instructions reach no model; they, and texts beside prompts and resources, say what kind of server it is. */
function aboutTexts(server: McpServer, { offers }: AboutServers): readonly Finding[] {
  const { id } = server;
  return offers.flatMap((offer): readonly Finding[] => {
    if (offer.server !== id || 'error' in offer) return [];
    const sentences = (offer.texts ?? []).flatMap(({ of, text }) =>
      textFaults(text, `${of.charAt(0).toUpperCase()}${of.slice(1)}`),
    );
    return sentences.slice(0, shownTexts).map((sentence) => {
      const message = `A text of the server ${quote(id)} is suspect. ${sentence}`;
      return { kind: 'suspect_text', path: pathOf(server), message };
    });
  });
}

/** Which tools the patterns would bring in is unknown then, so no tool stands there as unavailable. */
function aboutPatterns(server: McpServer, { offers }: AboutServers): readonly Finding[] {
  const { id } = server;
  return offers.flatMap((offer): readonly Finding[] => {
    if (offer.server !== id || !('error' in offer)) return [];
    const message = `The server ${quote(id)} could not be asked what it offers, so none of the tools that patterns in ${server.openapi === undefined ? 'mcp' : 'openapi'}.tools match is known or offered: ${offer.error}`;
    return [{ kind: 'missing_tools', path: pathOf(server), message }];
  });
}

function pathOf({ id, openapi }: McpServer): string {
  return join(openapi === undefined ? 'mcp.servers' : 'openapi.servers', id);
}
