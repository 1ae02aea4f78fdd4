import { at, version } from '../../example.js';
import type { Example } from '../../example.js';

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
          bounds: [
            {
              rule: 'office-hours',
              whom: null,
              argument: 'query',
              words: ['must have at most 200 characters or items'],
            },
          ],
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
          ...{ rule: null, facts: {} },
        },
      ],
      by: {
        ...{ tool: [{ name: 'knowledge-query', count: 1 }], group: [{ name: 'read-only', count: 1 }] },
        ...{ user: [{ name: 'user:ann', count: 1 }], tenant: [{ name: 'acme', count: 1 }] },
        state: [{ name: 'undefined', count: 1 }],
        rule: [],
      },
    },
  },
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
