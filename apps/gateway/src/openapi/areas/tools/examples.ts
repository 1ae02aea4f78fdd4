import { at } from '../../example.js';
import type { Example } from '../../example.js';

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
        ...{ authorized: true, needs_approval: false, code: 'validation', reason: null, rule: null },
        message: 'The arguments do not fit: /sparql: is required and missing.',
        lists: [],
        counted: [],
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

export const listAgentsExample: Example = {
  answers: {
    200: {
      config_version: 'c-4f2a9d1c7b3e8056',
      agents: [
        { name: 'default', description: null, groups: null, has_answer_schema: false, may_cancel: false },
        {
          name: 'support',
          description: 'Answers customers, and looks things up in their tickets',
          groups: ['tickets', 'products'],
          has_answer_schema: false,
          may_cancel: true,
        },
      ],
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
      note: null,
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
