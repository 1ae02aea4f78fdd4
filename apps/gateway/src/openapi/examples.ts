import { programVersion } from '@sluice/core';

/** A request of a route, and what it is answered by status: what the description shows. */
export interface Example {
  /** What stands in the path’s places. */
  readonly places?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  /** JSON by status; a route that answers in another form has none. */
  readonly answers: Readonly<Record<number, unknown>>;
}

const at = Date.UTC(2026, 0, 1);

const ended = {
  request_id: 'ask-1',
  session_id: 's-1',
  status: 'ended',
  kind: 'answer',
  answer: 'Japan is a country.',
  error: null,
  incomplete: null,
  confidence: null,
  partial: null,
  signature: 'verified',
  state: 'analysis',
  iterations: 2,
  history: [
    {
      thought: '',
      action: 'knowledge-query',
      arguments: '{"sparql":"SELECT ?c WHERE { ?c a <urn:country> } LIMIT 1"}',
      observation: '{"rows":[{"c":"Japan"}],"count":1}',
      outcome: 'ok',
      reason: null,
      state_before: 'undefined',
      state: 'analysis',
      tool_call_id: 'call-0',
      iteration: 1,
      index: 0,
      started_at: at + 120,
      ended_at: at + 180,
      result_hash: null,
      agent_run: null,
      provider_data: null,
      cached_at: null,
      documentation: null,
    },
  ],
  config_version: 'c-4f2a9d1c7b3e8056',
  ended_at: at + 900,
  tool_calls: [
    {
      id: 'call-0',
      tool: 'knowledge-query',
      arguments: '{"sparql":"SELECT ?c WHERE { ?c a <urn:country> } LIMIT 1"}',
      ok: true,
      error: null,
      reason: null,
      state: 'analysis',
      started_at: at + 120,
      duration_ms: 60,
    },
  ],
  tokens: { input: 812, output: 64, cached: 0 },
};

const running = {
  request_id: 'ask-1',
  session_id: 's-1',
  status: 'running',
  since: at,
  tool_calls: [],
  tokens: { input: 0, output: 0, cached: 0 },
};

const requestedApproval = {
  approval_id: 'a-1',
  request_id: 'ask-1',
  session_id: 's-1',
  tool: 'core__graph-update',
  arguments_hash: '5e1f',
  arguments: '{"add":[]}',
  topic: 'agent.tool-calls',
  partition: 0,
  offset: 12,
  expires_at: at + 3600000,
  iteration: 2,
  index: 0,
  tool_call_id: 'call-1',
  effect: 'state_change',
  thought: '',
  requested_by: 'user:ann',
  on_behalf_of: null,
  tenant_id: 'acme',
  config_version: 'c-4f2a9d1c7b3e8056',
  requested_at: at,
  in_force_version: 'c-4f2a9d1c7b3e8056',
  parked_ms: 0,
  requested_partition: 0,
  requested_offset: 4,
};

export const startRunExample: Example = {
  body: { question: 'Which countries are there?', group: ['read-only'], session_id: 's-1' },
  answers: { 200: ended, 202: running },
};

export const listRunsExample: Example = {
  query: { since: '1h', outcome: 'answer', limit: 20 },
  answers: {
    200: {
      runs: [
        {
          request_id: 'ask-1',
          session_id: 's-1',
          user: 'user:ann',
          on_behalf_of: null,
          parent: null,
          question: 'Which countries are there?',
          status: 'ended',
          outcome: 'answer',
          state: 'analysis',
          iterations: 2,
          model: 'anthropic/claude-sonnet',
          tokens: { input: 812, output: 64, cached: 0 },
          usd: 0.0034,
          started_at: at,
          ended_at: at + 900,
          duration_ms: 900,
          href: '/v1/runs/ask-1?session_id=s-1&since=1767225600000',
        },
      ],
      next_cursor: null,
    },
  },
};

export const readRunExample: Example = { places: { request_id: 'ask-1' }, answers: { 200: ended, 202: running } };

export const readVerdictsExample: Example = {
  places: { request_id: 'ask-1' },
  query: { iteration: 1 },
  answers: {
    200: {
      request_id: 'ask-1',
      iterations: [
        {
          iteration: 1,
          decided_at: at + 100,
          state: 'undefined',
          group: ['knowledge'],
          fallback_groups: [],
          unknown_groups: [],
          config_version: 'c-4f2a9d1c7b3e8056',
          tool_choice: null,
          deadline: at + 300_000,
          max_iterations: 10,
          budgets: { calls: { used: 0, limit: 50 }, tokens: null, micro_usd: null, tools: [] },
          offered_count: 1,
          hidden_count: 1,
          same_as: null,
          tools: [
            {
              key: 'knowledge-query',
              id: 'core__knowledge-query',
              title: 'Knowledge Graph Query',
              description: 'Query the knowledge graph',
              effect: 'read_only',
              groups: ['knowledge'],
              offered: true,
              reasons: [],
            },
            {
              key: 'graph-update',
              id: 'core__graph-update',
              title: 'Graph Update',
              description: 'Add or modify entities',
              effect: 'state_change',
              groups: ['knowledge'],
              offered: false,
              reasons: [
                {
                  code: 'state',
                  text: 'It is not available in this state.',
                  opens: 'It is available in the state analysis. knowledge-query leads to analysis.',
                },
              ],
            },
          ],
          left_out: 0,
        },
      ],
    },
  },
};

export const cancelRunExample: Example = {
  places: { request_id: 'ask-1' },
  body: { reason: 'No longer needed.' },
  answers: {
    200: {
      request_id: 'ask-1',
      session_id: 's-1',
      status: 'ended',
      kind: 'error',
      answer: null,
      error: { code: 'cancelled', message: 'The run was cancelled: No longer needed.' },
      incomplete: null,
      confidence: null,
      partial: null,
      signature: 'verified',
    },
    202: running,
  },
};

export const readUsageExample: Example = {
  query: { by: 'model', since: '30d' },
  answers: {
    200: {
      by: 'model',
      since: at,
      until: at + 30 * 86_400_000,
      rows: [
        {
          ...{ name: 'anthropic/claude-sonnet', runs: 12, calls: null, failures: 1 },
          tokens: { input: 9_744, output: 768, cached: 0 },
          ...{ usd: 0.041, runs_without_price: 0, mean_ms: 1_200, p50_ms: null, p95_ms: null },
        },
      ],
      total: {
        ...{ name: '', runs: 12, calls: null, failures: 1 },
        tokens: { input: 9_744, output: 768, cached: 0 },
        ...{ usd: 0.041, runs_without_price: 0, mean_ms: 1_200, p50_ms: null, p95_ms: null },
      },
      left_out: false,
    },
  },
};

export const readRecordsExample: Example = { places: { request_id: 'ask-1' }, answers: {} };

export const readStatusExample: Example = {
  answers: {
    200: {
      ...{ at, version: '5.1.0', instance: 'gateway-0', bus: 'kafka', config_version: 'c-4f2a9d1c7b3e8056' },
      roles: [{ role: 'filter', lag: 0, topics: [{ topic: 'agent.requests', lag: 0 }], problem: null }],
      checks: [{ name: 'log', ok: true, said: 'ok' }],
      runs: { running: 3, oldest_at: at - 4_000, overdue: 0, overdue_more: false, overdue_runs: [] },
      approvals: { waiting: 1, oldest_at: at - 60_000 },
      dead_letters: { last_day: 0, latest_at: null },
    },
  },
};

export const listServersExample: Example = {
  answers: {
    200: {
      config_version: 'c-4f2a9d1c7b3e8056',
      servers: [
        {
          ...{ name: 'analysis', transport: 'http', at: 'https://analysis.example.com/mcp', state: 'ready' },
          executors: [{ instance: 'executor-0', state: 'ready', error: null, since: at }],
          tools: [
            { key: 'complex-analysis', name: 'complex-analysis', offered: false, unavailable: 'It has changed.' },
          ],
          held_back: [
            {
              ...{ tool: 'complex-analysis', key: 'complex-analysis', description: 'Analyses anything.' },
              pin: '9b74c9897bac770f',
              changes: [{ path: 'description', was: '"Analyses rows."', is: '"Analyses anything."' }],
            },
          ],
        },
      ],
    },
  },
};

export const listConnectionsExample: Example = {
  answers: {
    200: {
      config_version: 'c-4f2a9d1c7b3e8056',
      connections: [{ name: 'crm', tenants: ['acme'], servers: ['crm'], tools: ['crm-search'] }],
    },
  },
};

export const listSessionsExample: Example = {
  query: { limit: 20 },
  answers: {
    200: { sessions: [{ session_id: 's-1', runs: 1, started_at: at, updated_at: at + 900 }], next_before: null },
  },
};

export const listStepsExample: Example = {
  places: { session_id: 's-1' },
  query: { limit: 20 },
  answers: {
    200: {
      session_id: 's-1',
      steps: [
        {
          request_id: 'ask-1',
          iteration: 1,
          id: 'call-0',
          tool: 'knowledge-query',
          arguments: '{"sparql":"SELECT ?c WHERE { ?c a <urn:country> } LIMIT 1"}',
          ok: true,
          error: null,
          reason: null,
          state: 'analysis',
          started_at: at + 120,
          duration_ms: 60,
        },
      ],
    },
  },
};

const queryTool = {
  id: 'core__knowledge-query',
  key: 'knowledge-query',
  description: 'Query the knowledge graph for entities and relationships',
  effect: 'read_only',
  groups: ['read-only'],
  input_schema: { type: 'object', properties: { sparql: { type: 'string' } }, required: ['sparql'] },
  schema_hash: '9f2c',
};

export const listToolsExample: Example = {
  query: { group: ['read-only'], state: 'undefined' },
  answers: {
    200: {
      config_version: 'c-4f2a9d1c7b3e8056',
      state: 'undefined',
      group: ['read-only'],
      fallback_groups: [],
      tools: [queryTool],
    },
  },
};

export const tryToolsetExample: Example = {
  body: {
    ...{ question: 'Which countries are there?', group: ['read-only'], session_id: 's-1' },
    call: { tool: queryTool.id, arguments: '{}' },
  },
  answers: {
    200: {
      config_version: 'c-4f2a9d1c7b3e8056',
      state: 'undefined',
      group: ['read-only'],
      fallback_groups: [],
      tool_choice: null,
      tools: [queryTool],
      hidden_counts: { state: 1 },
      call: {
        ...{ tool: queryTool.id, effect: queryTool.effect, offered: true, outcome: 'refused', arguments_valid: false },
        problems: [{ path: '/sparql', message: 'is required and missing' }],
        ...{ authorized: true, needs_approval: false, code: 'validation', reason: null },
        message: 'The arguments do not fit: /sparql: is required and missing.',
      },
    },
  },
};

export const readSpecificationExample: Example = {
  places: { hash: '9f2c' },
  query: { config_version: 'c-4f2a9d1c7b3e8056' },
  answers: {
    200: {
      config_version: 'c-4f2a9d1c7b3e8056',
      schema_hash: '9f2c',
      input_schema: queryTool.input_schema,
      tools: [queryTool],
    },
  },
};

export const listGroupsExample: Example = {
  answers: {
    200: {
      config_version: 'c-4f2a9d1c7b3e8056',
      groups: [
        {
          name: 'read-only',
          groups: [],
          tools: [
            {
              key: 'knowledge-query',
              id: 'core__knowledge-query',
              description: 'Query the knowledge graph for entities and relationships',
              effect: 'read_only',
              groups: ['read-only'],
              available_in_states: ['undefined'],
              state: 'analysis',
            },
          ],
        },
      ],
    },
  },
};

export const recommendGroupsExample: Example = {
  query: { question: 'Which countries are there?' },
  answers: {
    200: {
      config_version: 'c-4f2a9d1c7b3e8056',
      groups: [
        {
          name: 'read-only',
          score: 2.3,
          tools: [{ key: 'knowledge-query', score: 2.3, words: ['countries'], called: 0 }],
        },
      ],
    },
  },
};

export const readGroupExample: Example = {
  places: { name: 'read-only' },
  answers: {
    200: {
      config_version: 'c-4f2a9d1c7b3e8056',
      name: 'read-only',
      groups: [],
      tools: [
        {
          key: 'knowledge-query',
          id: 'core__knowledge-query',
          description: 'Query the knowledge graph for entities and relationships',
          effect: 'read_only',
          groups: ['read-only'],
          available_in_states: ['undefined'],
          state: 'analysis',
        },
      ],
    },
  },
};

export const listStatesExample: Example = {
  answers: {
    200: {
      config_version: 'c-4f2a9d1c7b3e8056',
      states: [{ name: 'undefined', tools: ['knowledge-query'], transitions: { 'knowledge-query': 'analysis' } }],
    },
  },
};

export const listApprovalsExample: Example = {
  query: { limit: 20 },
  answers: {
    200: {
      approvals: [
        {
          approval: requestedApproval,
          decisions: ['approve', 'refuse'],
          tool: { key: 'graph-update', title: 'Graph update' },
          question: 'Add Japan.',
        },
      ],
      next_cursor: null,
    },
  },
};

export const listDecidedApprovalsExample: Example = {
  query: { limit: 20 },
  answers: {
    200: {
      decisions: [
        {
          approval_id: 'a-1',
          request_id: 'ask-1',
          session_id: 's-1',
          tool: 'core__graph-update',
          effect: 'state_change',
          arguments: '{"add":[]}',
          arguments_hash: '5e1f',
          requested_by: 'user:ann',
          on_behalf_of: null,
          requested_at: at,
          decision: 'approve',
          decided_by: 'user:bob',
          reason: 'Checked with the owner',
          decided_at: at + 60_000,
          config_version: 'c-4f2a9d1c7b3e8056',
          verified: true,
        },
      ],
      next_cursor: null,
    },
  },
};

export const readApprovalExample: Example = {
  places: { approval_id: 'a-1' },
  answers: {
    200: {
      approval: requestedApproval,
      decisions: ['approve', 'refuse'],
      question: 'Add Japan.',
      tool: {
        key: 'graph-update',
        description: 'Add or modify entities in the knowledge graph',
        input_schema: { type: 'object' },
      },
      arguments: { add: [] },
      asked_because: null,
      holds: 'once',
      approvers: ['user:bob'],
      requester_may_not_approve: false,
      steps_before: [],
      decision: null,
      decided_at: null,
      call: null,
      run_ended: null,
    },
  },
};

export const decideExample: Example = {
  body: {
    approval_id: 'a-1',
    request_id: 'ask-1',
    session_id: 's-1',
    decision: 'approve',
    arguments_hash: '5e1f',
    reason: 'Checked.',
  },
  answers: {
    200: {
      approval_id: 'a-1',
      status: 'taken',
      outcome: { decision: 'approve', decided_by: 'user:bob', reason: 'Checked.' },
    },
    202: { approval_id: 'a-1', status: 'published', outcome: null },
  },
};

export const listAuditExample: Example = {
  query: { kind: 'run_ended', since: '1h' },
  answers: {
    200: {
      entries: [
        {
          at: at + 900,
          kind: 'run_ended',
          user: 'user:ann',
          on_behalf_of: null,
          request_id: 'ask-1',
          session_id: 's-1',
          tool: null,
          outcome: 'answer',
          authentic: true,
          config_version: 'c-4f2a9d1c7b3e8056',
          chain: 'agent.responses/0',
          sequence: 3,
          source_offset: 2,
          hash: '7888',
          details: { actor: 'user:ann', tenant: 'acme', outcome: 'answer' },
        },
      ],
      next_cursor: null,
    },
  },
};

const deadLetter = {
  id: '0-7',
  topic: 'agent.steps',
  partition: 0,
  offset: 42,
  service: 'filter',
  session_id: 's-1',
  code: 'undecodable',
  reason: 'The bytes are no record.',
  attempts: 1,
  appended_at: at,
  failed_at: at + 30,
  redriven: null,
};

export const listDeadLettersExample: Example = {
  query: { topic: 'agent.steps', limit: 20 },
  answers: {
    200: {
      dead_letters: [deadLetter],
      next_cursor: null,
    },
  },
};

export const readDeadLetterExample: Example = {
  places: { id: '0-7' },
  answers: {
    200: {
      ...deadLetter,
      headers: {},
      record: null,
      unreadable: 'The bytes are no record.',
      redrive: { possible: false, topic: null, meaning: 'It still cannot be read.' },
    },
  },
};

export const redriveExample: Example = {
  places: { id: '0-7' },
  answers: { 200: { id: '0-7', status: 'redriven', topic: 'agent.steps', meaning: 'The run goes on from there.' } },
};

export const readDescriptionExample: Example = {
  answers: { 200: { openapi: '3.1.0', info: { title: 'Sluice', version: '1' } } },
};

export const readPageExample: Example = { answers: {} };

export const readMeExample: Example = {
  answers: {
    200: {
      tenant: 'local',
      user: 'user:local',
      on_behalf_of: null,
      identity: 'none',
      groups: ['*'],
      connections: ['*'],
      is_operator: true,
      is_approver: true,
      is_auditor: true,
      expires_at: at + 43_200_000,
    },
  },
};

export const readConsoleExample: Example = {
  answers: {
    200: {
      version: programVersion,
      identity: 'jwt',
      sign_in: ['oidc', 'token', 'api_key'],
      oidc: { issuer: 'https://login.example', client_id: 'sluice-console', scopes: ['openid'], resource: null },
      bus: 'kafka',
      docs: '/docs',
    },
  },
};

const signedIn = {
  token: 'console_eyJleHBpcmVzQXQiOjE3NjcyNjg4MDAwMDB9.nWf5S2V8',
  expires_at: at + 43_200_000,
  session: 'session_eyJleHBpcmVzQXQiOjE3Njk4MTc2MDAwMDB9.Zq0wY7t1',
  session_expires_at: at + 2_592_000_000,
};

export const signInExample: Example = {
  body: {
    code: 'sign-in_eyJleHBpcmVzQXQiOjE3NjcyMjYyMDAwMDB9.dG9rZW4x',
    public_key: {
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    },
  },
  answers: { 200: signedIn },
};

export const renewSignInExample: Example = {
  body: { session: signedIn.session, at: at + 3_600_000, signature: 'MEQCIGsxNf2cs1yPqzFDbXqLpXG1' },
  answers: { 200: signedIn },
};

const version = 'c-4f2a9d1c7b3e8056';
const listed = {
  ...{ config_version: version, source: 'sluice.yaml', applied_at: at, compiled_at: at - 20 },
  in_force: true,
};
const text = `tool:
  knowledge-query: { type: knowledge-query, group: [read-only] }
policy: { allowed_tools: [knowledge-query] }
`;

export const listConfigurationsExample: Example = {
  query: { limit: 20 },
  answers: { 200: { configurations: [{ ...listed, refused: null, tools: 1 }], next_cursor: null } },
};

export const readConfigurationExample: Example = {
  places: { config_version: 'current' },
  answers: {
    200: {
      ...listed,
      ...{ text, text_is_whole: true, document: null },
      groups: [{ name: 'read-only', groups: [], tools: ['knowledge-query'] }],
      states: [
        {
          ...{ name: 'undefined', tools: ['knowledge-query'], transitions: { 'knowledge-query': 'analysis' } },
          ...{ reachable: true, dead_end: false },
        },
      ],
      tools: [
        {
          ...{ key: 'knowledge-query', id: 'core__knowledge-query', title: 'Knowledge Graph Query' },
          ...{ description: 'Queries the knowledge graph.', type: 'knowledge-query', source: 'built_in' },
          ...{ source_name: null, effect: 'read_only', groups: ['read-only'], available_in_states: ['*'] },
          ...{ state: 'analysis', connection: null, allowed: true, needs_approval: false, unavailable: null },
          rules: ['office-hours'],
        },
      ],
      agents: [],
      rules: [
        {
          name: 'office-hours',
          words: ['Available on Monday and Friday from 08:00 to 18:00 in the time zone Europe/Berlin.'],
          tools: ['knowledge-query'],
        },
      ],
      policy: ['1 tool is allowed.', 'A run may make 50 calls.'],
    },
  },
};

export const compareConfigurationsExample: Example = {
  places: { config_version: 'current' },
  answers: {
    200: {
      ...{ config_version: version, from: 'c-11aa22bb33cc44dd' },
      changes: [
        {
          ...{ kind: 'tool', name: 'knowledge-query', change: 'changed', part: 'groups' },
          ...{ before: 'basic', after: 'read-only' },
        },
      ],
      left_out: 0,
    },
  },
};

export const readMatrixExample: Example = {
  places: { config_version: 'current' },
  answers: {
    200: {
      ...{ config_version: version, groups: ['read-only'], states: ['undefined'] },
      cells: [{ group: 'read-only', state: 'undefined', tools: ['knowledge-query'] }],
      left_out: 0,
    },
  },
};

const finding = {
  ...{ kind: 'dead_end', path: 'tool', line: 1, column: 1 },
  message: 'No tool is available in the state "analysis", which knowledge-query leads to.',
};

export const listFindingsExample: Example = {
  places: { config_version: 'current' },
  answers: {
    200: { config_version: version, findings: [{ ...finding, line: null, column: null }], left_out: 0 },
  },
};

export const checkConfigurationExample: Example = {
  body: { text },
  answers: {
    200: { ok: true, config_version: version, tools: 1, problems: [], findings: [finding], left_out: 0 },
  },
};

export const explainExample: Example = {
  body: { group: ['read-only'], state: 'undefined', user: 'user:ann', tenant: 'acme', channel: 'http' },
  answers: {
    200: {
      ...{ config_version: version, is_candidate: false, state: 'undefined', group: ['read-only'] },
      ...{ fallback_groups: [], permitted: true, refused_groups: [], refusal: null, tool_choice: null },
      tools: [
        {
          ...{ key: 'knowledge-query', id: 'core__knowledge-query', offered: false, needs_approval: false },
          authorized: true,
          reasons: [
            {
              code: 'time',
              text: 'A rule closes it at this time.',
              opens: 'The rule “office-hours” opens it from 08:00 to 18:00 (UTC) on every day.',
              rules: [
                { name: 'office-hours', words: ['Available every day from 08:00 to 18:00 in the time zone UTC.'] },
              ],
            },
          ],
        },
      ],
      warnings: [],
    },
  },
};

export const whatIfExample: Example = {
  body: { text, since: '1h', limit: 50 },
  answers: {
    200: {
      ...{ config_version: version, since: at, until: at + 3_600_000, left_out: 0, considered: 40, altered: 1 },
      ...{ not_replayable: 0, undecodable: 0, is_whole: true },
      decisions: [
        {
          ...{ request_id: 'ask-1', session_id: 's-1', iteration: 1, topic: 'agent.toolsets', partition: 0, offset: 7 },
          ...{ kind: 'tools', tool: 'knowledge-query', groups: ['read-only'], state: 'undefined' },
          ...{ user: 'user:ann', tenant: 'acme', before: { verdict: 'offered', reasons: [] } },
          after: {
            verdict: 'hidden',
            reasons: [{ code: 'group', text: 'It is in none of the requested groups.' }],
          },
        },
      ],
      by: {
        ...{ tool: [{ name: 'knowledge-query', count: 1 }], group: [{ name: 'read-only', count: 1 }] },
        ...{ user: [{ name: 'user:ann', count: 1 }], tenant: [{ name: 'acme', count: 1 }] },
        state: [{ name: 'undefined', count: 1 }],
      },
    },
  },
};

export const verifyAuditExample: Example = {
  answers: {
    200: {
      ok: false,
      found: 1,
      chains: [
        {
          chain: 'agent.steps/0',
          entries: 41,
          sequence: 42,
          head: '9f2b',
          sealed: 40,
          checkpoints: 1,
          beyond_last_checkpoint: 2,
          waiting: 0,
          waiting_since: null,
        },
      ],
      findings: [
        {
          kind: 'dropped',
          message: 'Records that were written are not there.',
          what: '',
          chain: 'agent.steps/0',
          entries: { first: 17, last: 17 },
          place: null,
          source_offset: null,
          runs: [],
          differences: [],
        },
      ],
      sources: { compared: 41, gone: 0, waiting: 0, not_compared: null },
    },
  },
};

export const exportLogExample: Example = { query: { since: '24h', tenant: 'acme' }, answers: {} };

export const attestExample: Example = {
  query: { since: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z', session_id: 's-1' },
  answers: {
    200: {
      type: 'sluice-attestation',
      version: 1,
      from: at,
      to: at + 86_400_000,
      session: 's-1',
      signer: 'software',
      chains: [],
      signature: 'eyJhbGciOiJFZERTQSJ9.eyJhdHRlc3RhdGlvbiI6IjVlMWYifQ.Zq0w',
      quote: null,
    },
  },
};

export const acceptServerChangesExample: Example = {
  places: { name: 'analysis' },
  body: { tools: [{ tool: 'complex-analysis', pin: '9b74c9897bac770f' }] },
  answers: { 200: { config_version: version, replaced: 'c-11aa22bb33cc44dd', status: 'accepted' } },
};

export const applyConfigurationExample: Example = {
  body: { text, replaces: 'c-11aa22bb33cc44dd' },
  answers: {
    200: {
      ...{ config_version: version, replaced: 'c-11aa22bb33cc44dd', status: 'applied' },
      ...{ source: `data/configurations/${version}.yaml`, signed: true, note: null },
    },
  },
};
