import { createHash } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { isJsonObject, pinOf, printable, takeOffer, ToolUnavailableError, wellFormed } from '@sluice/core';
import type { JsonObject, JsonValue, McpOffer, OfferedTool } from '@sluice/core';
import type { McpConnection } from './connection.js';
import { withoutCode } from './start-problem.js';

/** More tools than this of one server are not looked at. */
const maxTools = 1_000;

/** What is read of a page: each tool is looked at by itself, so that one that is malformed does not hide the others. */
const Page = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });

/** Asks one server what it offers (M-20, M-101), within its start time; a server that does not answer is an offer with its reason. */
export async function offerOf(connection: McpConnection): Promise<McpOffer> {
  const { id, startMs } = connection.server;
  const endsAt = Date.now() + startMs;
  let client: Client | undefined;
  try {
    client = await connection.acquire(startMs, new AbortController().signal);
    return { server: id, tools: await listTools(client, endsAt) };
  } catch (error) {
    connection.announceReturn();
    const silent = error instanceof McpError && error.code === ErrorCode.RequestTimeout;
    if (client !== undefined && silent) await connection.drop(client);
    return { server: id, error: connection.hide(reasonOf(id, error)) };
  }
}

/** All tools of a server, every page of them. Throws if they do not come to an end in time, or are too many. */
export async function listTools(client: Client, endsAt: number): Promise<readonly OfferedTool[]> {
  const tools: OfferedTool[] = [];
  const cursors = new Set<string>();
  for (let cursor: string | null | undefined; ;) {
    const timeout = endsAt - Date.now();
    if (timeout <= 0) throw new Error('its list of tools did not come to an end in time');
    const params = cursor === undefined ? {} : { cursor };
    const page = await client.request({ method: 'tools/list', params }, Page, { timeout, maxTotalTimeout: timeout });
    if (tools.length + page.tools.length > maxTools)
      throw new Error(`it offers more than ${maxTools} tools, which is the limit`);
    tools.push(...wellFormed(page.tools).flatMap(offered));
    cursor = page.nextCursor;
    if (cursor === undefined || cursor === null) return tools;
    // Without this a server whose pages go round, or are empty for ever, would be read until the time is up.
    if (cursors.has(cursor) || cursors.size > maxTools) throw new Error('its list of tools does not come to an end');
    cursors.add(cursor);
  }
}

/** What a tool of these is held to; null if there is none of the name, more than one, or one that could not be allowed. */
export function pinIn(tools: readonly OfferedTool[], name: string): string | null {
  const [tool, ...others] = tools.filter((one) => one.name === name);
  if (tool === undefined || others.length > 0 || 'problems' in takeOffer(tool)) return null;
  return pinOf(tool, (text) => createHash('sha256').update(text).digest('hex'));
}

/** What has no name cannot be named by anybody; what has no schema is offered with one that nobody can use, and so says why. */
function offered(tool: unknown): readonly OfferedTool[] {
  // What came over the wire is JSON.
  const given = tool as JsonValue;
  if (!isJsonObject(given) || typeof given['name'] !== 'string') return [];
  const { name, description, inputSchema, outputSchema } = given;
  return [
    {
      name,
      description: typeof description === 'string' ? printable(description) : '',
      inputSchema: schemaIn(inputSchema) ?? {},
      outputSchema: schemaIn(outputSchema),
    },
  ];
}

function schemaIn(value: JsonValue | undefined): JsonObject | null {
  return isJsonObject(value) ? value : null;
}

function reasonOf(id: string, error: unknown): string {
  if (error instanceof ToolUnavailableError && error.cause instanceof Error) return error.cause.message;
  const reason = error instanceof Error ? withoutCode(error.message) : String(error);
  return `The MCP server ${id} could not be asked for its tools: ${printable(reason).slice(0, 300)}.`;
}
