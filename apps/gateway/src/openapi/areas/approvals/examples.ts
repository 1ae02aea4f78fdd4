import { at } from '../../example.js';
import type { Example } from '../../example.js';

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
  rules: [
    {
      rule: 'rule',
      name: 'large-changes',
      message: 'The rule "large-changes" asks for the approvals of 2 persons of this call.',
      quorum: 2,
      approvers: ['user:bob', 'group:finance'],
      escalates_at: at + 600_000,
      escalate_to: ['group:board'],
      on_expiry: 'refuse',
    },
  ],
  asked_because: 'The rule "large-changes" asks for the approvals of 2 persons of this call.',
  state: 'undefined',
  groups: ['knowledge'],
  bound: '9b1d',
  others: ['a-2'],
  behind: null,
  agent: null,
  requested_partition: 0,
  requested_offset: 4,
};

const progress = {
  rules: [
    {
      rule: 'rule',
      name: 'large-changes',
      message: 'The rule "large-changes" asks for the approvals of 2 persons of this call.',
      quorum: 2,
      given: 1,
      needed: 1,
      approvers: ['user:bob', 'group:finance'],
      escalates_at: at + 600_000,
      escalate_to: ['group:board'],
      escalated: false,
      on_expiry: 'refuse',
    },
  ],
  approved_by: [{ by: 'user:cem', at: at + 5_000, rules: ['large-changes'] }],
  still_needed: 1,
  on_expiry: 'refuse',
};

export const listApprovalsExample: Example = {
  query: { limit: 20 },
  answers: {
    200: {
      approvals: [
        {
          approval: requestedApproval,
          decisions: ['approve', 'refuse'],
          progress,
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
          decided_through: null,
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
      approvers: ['user:bob', 'group:finance'],
      progress,
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
      outcome: { decision: 'approve', decided_by: 'user:bob', reason: 'Checked.', still_needed: 0 },
    },
    202: { approval_id: 'a-1', status: 'published', outcome: null },
  },
};

export const decideByIdExample: Example = {
  places: { approval_id: 'a-1' },
  body: { decision: 'approve', arguments_hash: '5e1f', reason: 'Checked.', decided_for: 'user:bob' },
  answers: decideExample.answers,
};

export const decideAllExample: Example = {
  body: { decisions: [decideExample.body as object] },
  answers: {
    200: {
      decisions: [{ approval_id: 'a-1', status: 'published', outcome: null, not_taken: null, message: null }],
    },
  },
};
