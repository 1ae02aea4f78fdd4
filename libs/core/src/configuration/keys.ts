/**
 * Every key a configuration file may hold, by the place it stands in; `<…>` is a name of the author's choice. The readers of
 * the sections refuse any other key, and docs/configuration.md is held equal to this table by a test.
 */
export const configurationKeys = {
  '': ['tool', 'tool_folders', 'group', 'policy', 'authorization', 'agents', 'model', 'mcp', 'knowledge', 'limits'],
  'tool.<tool>': [
    'type',
    'name',
    'description',
    'group',
    'state',
    'available_in_states',
    'mcp_tool_id',
    'timeout_seconds',
  ],
  policy: ['allowed_tools', 'approval', 'budgets'],
  'policy.approval': ['effects'],
  'policy.budgets': ['calls_per_run', 'tools'],
  'policy.budgets.tools.<tool>': ['timeout_seconds', 'result_bytes', 'calls_per_run', 'calls_per_minute'],
  authorization: ['groups', 'permissions', 'delegations', 'cedar'],
  'authorization.permissions[]': ['principals', 'tenants', 'tools', 'connections'],
  'authorization.delegations[]': ['actors', 'subjects', 'tenants', 'tools', 'connections'],
  'authorization.cedar': ['policies', 'schema'],
  agents: ['default'],
  'agents.default': ['instructions'],
  model: ['provider', 'name', 'base_url', 'api_key_env', 'region', 'max_output_tokens'],
  mcp: ['servers', 'tools', 'naming'],
  'mcp.servers.<server>': ['command', 'args', 'env', 'url', 'timeout_seconds'],
  'mcp.tools.<id>': ['server', 'tool', 'effect', 'idempotent', 'redaction'],
  knowledge: ['load', 'endpoint', 'update_endpoint'],
  limits: [
    'max_iterations',
    'run_seconds',
    'tool_seconds',
    'model_seconds',
    'history_bytes',
    'argument_bytes',
    'result_bytes',
  ],
} as const satisfies Record<string, readonly string[]>;
