import { at } from '../../example.js';
import type { Example } from '../../example.js';

const ended = {
  request_id: 'ask-1',
  session_id: 's-1',
  status: 'ended',
  kind: 'answer',
  answer: 'Japan is a country.',
  structured: null,
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
      content: [],
      questions: [],
      rule: null,
      facts: {},
      edited: null,
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
          agent: 'support',
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
      structured: null,
      error: { code: 'cancelled', message: 'The run was cancelled: No longer needed.' },
      incomplete: null,
      confidence: null,
      partial: null,
      signature: 'verified',
    },
    202: running,
  },
};

export const uploadExample: Example = {
  query: { name: 'picture.png' },
  answers: {
    200: {
      content: {
        ...{ hash: '5f0c9a1be2d34c77'.repeat(4), type: 'image/png', size: 48_213 },
        ...{ kind: 'image', name: 'picture.png' },
      },
      expires_at: at + 86_400_000,
    },
  },
};

export const listContentExample: Example = {
  places: { request_id: 'ask-1' },
  answers: {
    200: {
      request_id: 'ask-1',
      content: [
        {
          ...{ hash: '5f0c9a1be2d34c77'.repeat(4), type: 'image/png', size: 48_213 },
          ...{ kind: 'image', name: 'picture.png', iteration: null, tool: null },
          ...{ is_kept: true, written_at: at, expires_at: at + 2 * 86_400_000 },
        },
      ],
    },
  },
};

export const readContentExample: Example = {
  places: { request_id: 'ask-1', hash: '5f0c9a1be2d34c77'.repeat(4) },
  answers: {},
};

export const readRecordsExample: Example = { places: { request_id: 'ask-1' }, answers: {} };

export const requestCancellationExample: Example = {
  body: { request_id: 'ask-1', reason: 'The customer has called.' },
  answers: { 200: { request_id: 'ask-1', status: 'cancelling' } },
};
