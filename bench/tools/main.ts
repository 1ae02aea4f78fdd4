import { benchIsolated } from './isolated.js';
import { benchMcpCalls } from './mcp-calls.js';
import { benchRunner } from './runner.js';

/**
 * What the one pipeline costs: around a tool that returns at once, the same in a process of its own, and around a
 * call to an MCP server.
 */
export async function benchTools(): Promise<void> {
  await benchRunner();
  await benchIsolated();
  await benchMcpCalls();
}
