import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ErrorCode, ListToolsResultSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import { ToolUnavailableError } from '@sluice/core';
import type { JsonObject, McpOffer } from '@sluice/core';
import type { McpConnection } from './connection.js';
import { withoutCode } from './start-problem.js';

/** More tools than this of one server are not looked at. */
const maxTools = 1_000;

type OfferedTools = Extract<McpOffer, { readonly tools: unknown }>['tools'];

/** Asks one server what it offers (M-20, M-101), within its start time; a server that does not answer is an offer with its reason. */
export async function offerOf(connection: McpConnection): Promise<McpOffer> {
  const { id, startMs } = connection.server;
  const endsAt = Date.now() + startMs;
  let client: Client | undefined;
  try {
    client = await connection.acquire(startMs, new AbortController().signal);
    return { server: id, tools: await list(client, () => Math.max(1, endsAt - Date.now())) };
  } catch (error) {
    connection.announceReturn();
    const silent = error instanceof McpError && error.code === ErrorCode.RequestTimeout;
    if (client !== undefined && silent) await connection.drop(client);
    return { server: id, error: reasonOf(id, error) };
  }
}

async function list(client: Client, remainingMs: () => number): Promise<OfferedTools> {
  const tools = new Map<string, OfferedTools[number]>();
  let cursor: string | undefined;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const page = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, {
      timeout: remainingMs(),
    });
    for (const { name, description, inputSchema } of page.tools) {
      tools.set(name, { name, description: description ?? '', inputSchema: inputSchema as JsonObject });
    }
    // Without this a server whose pages never end would be read for ever.
    if (tools.size > maxTools || page.tools.length === 0) break;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  if (tools.size > maxTools) throw new Error(`it offers more than ${maxTools} tools, which is the limit`);
  return [...tools.values()];
}

function reasonOf(id: string, error: unknown): string {
  if (error instanceof ToolUnavailableError && error.cause instanceof Error) return error.cause.message;
  const reason = error instanceof Error ? withoutCode(error.message) : String(error);
  return `The MCP server ${id} could not be asked for its tools: ${reason}.`;
}
