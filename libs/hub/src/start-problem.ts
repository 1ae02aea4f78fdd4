import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { causeOf, printable } from '@sluice/core';
import type { McpServer } from '@sluice/core';
import { StdioProcess } from './stdio-process.js';
import type { Hide } from './stdio-process.js';

/** Characters of what a server, or a library, says for itself. */
const quotedReason = 300;

/** Why a server could not be started or reached, as a sentence for the one who configured it. */
export function startProblem(server: McpServer, transport: unknown, failure: unknown, hide: Hide): string {
  const { id, command, url, startMs } = server;
  const error = beneath(failure);
  const reason = reasonIn(error, hide);
  if (command === null) {
    const cause = [causeOf(error)?.code ?? causeOf(error)?.message ?? []].flat().map((each) => ` (${String(each)})`);
    return `The MCP server ${id} cannot be reached at ${url}: ${reason}${cause.join('')}. Check mcp.servers.${id}.url and that it runs.`;
  }
  if ((error as { code?: unknown }).code === 'ENOENT') {
    return `The MCP server ${id} cannot be started: there is no command "${command}". Correct mcp.servers.${id}.command.`;
  }
  if (/timed out/i.test(reason)) return silenceProblem(server, startMs, transport, hide);
  const ending = transport instanceof StdioProcess ? transport.ending : null;
  const ended = /connection closed|process is gone|does not read/i.test(reason)
    ? `${ending ?? 'ended'} before it answered`
    : `cannot be started: ${reason}`;
  return `The MCP server ${id} ${ended}. Check mcp.servers.${id}.command and its args.${wordsOf(transport, hide)}`;
}

/** The SDK wraps what went wrong while it found out how a server speaks. */
function beneath(error: unknown): unknown {
  const isWrapped = error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
  return isWrapped && error.cause instanceof Error ? error.cause : error;
}

/** Why a server that was there is not any more. */
export function lossProblem({ id }: McpServer, transport: unknown, hide: Hide): string {
  if (!(transport instanceof StdioProcess)) return `The connection to the MCP server ${id} was lost.`;
  return `The MCP server ${id} ${transport.ending ?? 'ended'}.${wordsOf(transport, hide)}`;
}

export function silenceProblem({ id }: McpServer, waitedMs: number, transport: unknown, hide: Hide): string {
  const remedy = `Raise mcp.servers.${id}.timeout_seconds, or see why it is slow.`;
  return `The MCP server ${id} did not answer within ${waitedMs / 1000} s. ${remedy}${wordsOf(transport, hide)}`;
}

/** What an error says, without codes and secrets, bounded. */
export function reasonIn(error: unknown, hide: Hide): string {
  const said = withoutCode(String((error as { message?: unknown } | null)?.message ?? error));
  return printable(hide(said)).slice(0, quotedReason);
}

function wordsOf(transport: unknown, hide: Hide): string {
  return transport instanceof StdioProcess ? transport.lastWords(hide) : '';
}

/** A message without the error codes that SDKs of servers put in front, once for each side. */
export function withoutCode(message: string): string {
  return message.replace(/^(?:MCP error -?\d+: )+/, '');
}
