import type { Client } from '@modelcontextprotocol/client';
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { ToolUnavailableError } from '@sluice/core';
import type { McpOffer } from '@sluice/core';
import type { McpConnection } from './connection.js';
import { listTools } from './listed-tools.js';
import { textsOf } from './offered-texts.js';

/**
 * Asks one server what it offers (M-20, M-101), within its start time; a server that does not answer is an offer with
 * its reason.
 */
export async function offerOf(connection: McpConnection): Promise<McpOffer> {
  const { id, startMs } = connection.server;
  const endsAt = Date.now() + startMs;
  let client: Client | undefined;
  try {
    client = await connection.acquire(startMs, new AbortController().signal);
    const { tools, endless } = await listTools(client, endsAt, connection.server, connection.readsHeaders(client));
    const texts = await textsOf(client, endsAt);
    const subscribes = client.getServerCapabilities()?.resources?.subscribe === true;
    const offered = {
      ...{ server: id, tools },
      ...(texts.length === 0 ? {} : { texts }),
      ...(subscribes ? { subscribes } : {}),
    };
    if (endless === null) return offered;
    connection.log(`${endless}; the ${tools.length} tools that were read are used`);
    return { ...offered, endless };
  } catch (error) {
    connection.announceReturn();
    // Before it is dropped: what it wrote so far says why.
    const reason = reasonOf(connection, error);
    const silent = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
    if (client !== undefined && silent) await connection.drop(client, reason);
    return { server: id, error: connection.hide(reason) };
  }
}

function reasonOf(connection: McpConnection, error: unknown): string {
  if (error instanceof ToolUnavailableError && error.cause instanceof Error) return error.cause.message;
  return connection.problemOf(error, 'could not be asked for its tools');
}
