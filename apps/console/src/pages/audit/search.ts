import { oneOf, texts } from '../../data/search.js';

export const auditKinds = {
  request: 'Request',
  tools_granted: 'Tools granted',
  calls_chosen: 'Calls chosen',
  tool_call: 'Tool call',
  state_transition: 'Change of state',
  agent_begun: 'Agent begun',
  turn_without_calls: 'Turn without calls',
  run_ended: 'Run ended',
  request_refused: 'Request refused',
  approval_requested: 'Approval requested',
  approval_decided: 'Approval decided',
  approval_outcome: 'Approval outcome',
  approval_escalated: 'Approval escalated',
  standing_approval_decided: 'Standing approval decided',
  standing_approval_outcome: 'Standing approval outcome',
  cancel_outcome: 'Cancellation',
  tools_shown: 'Tools shown',
  access_denied: 'Access denied',
} as const;

export type AuditKind = keyof typeof auditKinds;
const kinds = ['', ...(Object.keys(auditKinds) as AuditKind[])] as const;

/** The filters of the audit, and the entry that is open. */
export const auditSearch = (search: Readonly<Record<string, unknown>>) => {
  const kind = oneOf<AuditKind | ''>(search, 'kind', kinds as readonly ['', ...AuditKind[]]);
  return {
    ...texts(search, ['since', 'until', 'request_id', 'session_id', 'user', 'tool', 'outcome', 'entry']),
    ...(kind === '' ? {} : { kind }),
  };
};
