import { type Kinds, seconds } from './kinds.js';

/**
 * What the MCP servers of the configuration do, as the executor sees them. Servers are labelled by their names in the
 * configuration.
 */
export function hubMetrics({ counter, gauge, histogram }: Kinds) {
  return {
    mcpServerReady: gauge(
      'sluice_mcp_server_ready',
      'Whether an MCP server is connected: 1, or 0 while it is away or was not needed yet.',
      'server',
    ),
    mcpServerCalls: histogram(
      'sluice_mcp_server_call_duration_seconds',
      'Time from sending a call to an MCP server to its answer, by outcome: ok or failed.',
      seconds,
      'server',
      'outcome',
    ),
    mcpCachedCalls: counter(
      'sluice_mcp_cached_calls_total',
      'Calls of tools with cache_seconds by outcome: hit, answered by what an equal call got, or miss, made at the server.',
      'server',
      'outcome',
    ),
    mcpQuestions: counter(
      'sluice_mcp_questions_total',
      'Requests of MCP servers in the middle of calls, by kind (elicitation, sampling or roots) and outcome: answered, declined, cancelled or refused.',
      'server',
      'kind',
      'outcome',
    ),
    mcpQuestionsWaiting: gauge(
      'sluice_mcp_questions_waiting',
      'Calls that are parked until their caller has answered a form of an MCP server, up to 10,000; every executor counts them all.',
    ),
    mcpNotices: counter(
      'sluice_mcp_notices_total',
      'What MCP servers said, by kind (progress or log while calls ran, or updated, a change of a watched resource) and outcome: relayed, or dropped beyond the bounds or by the redaction of the tool.',
      'server',
      'kind',
      'outcome',
    ),
    mcpServerTools: gauge(
      'sluice_mcp_server_tools',
      'Configured tools of an MCP server by status: offered, or withheld because the server is away, changed them or does not have them.',
      'server',
      'status',
    ),
  };
}
