import type { McpServer } from '@sluice/core';
import { causeOf } from '../reachability.js';
import { StdioProcess } from './stdio-process.js';

/** Why a server could not be started or reached, as a sentence for the one who configured it. */
export function startProblem(server: McpServer, transport: unknown, error: unknown): string {
  const { id, command, url, startMs } = server;
  const reason = withoutCode(String((error as { message?: unknown } | null)?.message ?? error));
  if (command === null) {
    const cause = [causeOf(error)?.code ?? causeOf(error)?.message ?? []].flat().map((each) => ` (${String(each)})`);
    return `The MCP server ${id} cannot be reached at ${url}: ${reason}${cause.join('')}. Check mcp.servers.${id}.url and that it runs.`;
  }
  if ((error as { code?: unknown }).code === 'ENOENT') {
    return `The MCP server ${id} cannot be started: there is no command "${command}". Correct mcp.servers.${id}.command.`;
  }
  const words =
    transport instanceof StdioProcess && transport.lastWords !== '' ? ` It wrote: ${transport.lastWords}` : '';
  if (/timed out/i.test(reason)) {
    return silenceProblem(server, startMs) + words;
  }
  const code =
    transport instanceof StdioProcess && transport.exitCode !== null ? ` with code ${transport.exitCode}` : '';
  const ended = /connection closed|process is gone/i.test(reason)
    ? `ended${code} before it answered`
    : `cannot be started: ${reason}`;
  return `The MCP server ${id} ${ended}. Check mcp.servers.${id}.command and its args.${words}`;
}

export function silenceProblem({ id }: McpServer, waitedMs: number): string {
  return `The MCP server ${id} did not answer within ${waitedMs / 1000} s. Raise mcp.servers.${id}.timeout_seconds, or see why it is slow.`;
}

/** A message of the SDK without the error codes it puts in front, once for each side. */
export function withoutCode(message: string): string {
  return message.replace(/^(?:MCP error -?\d+: )+/, '');
}
