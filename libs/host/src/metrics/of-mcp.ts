import type { Kinds } from './kinds.js';
import { seconds } from './kinds.js';

/** What MCP clients do. */
export function mcpMetrics({ counter, gauge, histogram }: Kinds) {
  return {
    mcpSessions: gauge('sluice_mcp_sessions', 'Open sessions of MCP clients, of all replicas together.'),
    mcpSessionEvents: counter(
      'sluice_mcp_session_events_total',
      'What became of sessions: begun, ended by the client, displaced, unknown or expired where one asked for it; and streams that a client resumed: answer_resumed, stream_resumed.',
      'event',
    ),
    mcpCalls: counter(
      'sluice_mcp_calls_total',
      'Calls of MCP clients by outcome: ok, user_input, system, permission, pending, task, limited or protocol.',
      'outcome',
    ),
    mcpCallDuration: histogram(
      'sluice_mcp_call_duration_seconds',
      'Time from when a call of an MCP client came until it was answered.',
      seconds,
    ),
  };
}
