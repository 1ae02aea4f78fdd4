import type { Kinds } from './kinds.js';
import { seconds } from './kinds.js';

/** What MCP clients do. */
export function mcpMetrics({ counter, gauge, histogram }: Kinds) {
  return {
    mcpSessions: gauge('sluice_mcp_sessions', 'Sessions of MCP clients that this process holds.'),
    mcpCalls: counter(
      'sluice_mcp_calls_total',
      'Calls of MCP clients by outcome: ok, user_input, system, permission, pending, limited or protocol.',
      'outcome',
    ),
    mcpCallDuration: histogram(
      'sluice_mcp_call_duration_seconds',
      'Time from when a call of an MCP client came until it was answered.',
      seconds,
    ),
  };
}
