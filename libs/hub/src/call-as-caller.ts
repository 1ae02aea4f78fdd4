import { ToolConnectionUnreachableError, ToolUnavailableError } from '@sluice/core';
import type { McpOffer, McpServer } from '@sluice/core';
import type { McpClients } from './clients.js';
import type { McpConnection } from './connection.js';
import type { McpConnectOptions } from './hub.js';
import { offerOf } from './offer.js';
import { isRefusal } from './refused.js';

/**
 * A call with the caller's credential, or what connects for one. A server that refuses the credential is asked once
 * more, with a new one.
 */
export async function callAsCaller<T, Options extends McpConnectOptions>(
  clients: McpClients,
  options: Options,
  call: (connection: McpConnection, options: Options) => Promise<T>,
): Promise<T> {
  const { id } = clients.server;
  const { credential, signal } = options;
  if (credential === undefined)
    throw new ToolUnavailableError(`The MCP server ${id} wants a credential and was called without one.`);
  const endsAt = Date.now() + options.timeoutMs;
  const attempt = (token: string): Promise<T> =>
    clients.use(token, (connection) => call(connection, { ...options, timeoutMs: Math.max(1, endsAt - Date.now()) }));
  try {
    return await attempt(credential.token);
  } catch (error) {
    signal.throwIfAborted();
    if (!isRefusal(error)) throw error;
    const other = await credential.renew();
    if (other === null) throw notAccepted(id, error);
    try {
      return await attempt(other);
    } catch (again) {
      throw isRefusal(again) ? notAccepted(id, again) : again;
    }
  }
}

/** What a server offers without a caller: it is asked with Sluice's own credential. */
export async function offerToSluice(
  clients: McpClients,
  credential: (server: McpServer, refused?: string) => Promise<string>,
): Promise<McpOffer> {
  const { server } = clients;
  try {
    const token = await credential(server);
    const [offer, refused] = await ask(clients, token);
    if (!refused) return offer;
    const other = await credential(server, token);
    return other === token ? offer : (await ask(clients, other))[0];
  } catch (error) {
    return { server: server.id, error: (error as Error).message };
  }
}

function ask(clients: McpClients, token: string): Promise<readonly [McpOffer, boolean]> {
  return clients.use(token, async (connection) => [await offerOf(connection), connection.isRefused] as const);
}

function notAccepted(id: string, cause: unknown): ToolConnectionUnreachableError {
  return new ToolConnectionUnreachableError(`The MCP server ${id} does not accept the credential of its connection.`, {
    cause,
  });
}
