import type { Approval, AskedApproval, WaitingApproval } from '@sluice/client';

/** A call that waits, by its number. */
export const asked = (n: number): AskedApproval => ({
  ...{ approval_id: `a-${n}`, request_id: `run-${n}`, session_id: `run-${n}`, tool: `core__tool-${n}` },
  ...{ arguments_hash: `hash-${n}`, arguments: '{"amount":12}', topic: 'agent.tool-calls', partition: 0, offset: n },
  ...{ expires_at: Date.now() + 600_000, iteration: 2, index: 0, tool_call_id: 'call-1', effect: 'state_change' },
  ...{ thought: 'It fits best.', requested_by: 'user:bob', on_behalf_of: null, tenant_id: 'acme' },
  ...{ config_version: 'c-1', requested_at: Date.now(), in_force_version: 'c-1', parked_ms: null, agent: null },
  ...{ rules: [], asked_because: '', state: 'undefined', groups: ['default'], bound: '' },
  ...{ others: [], behind: null, requested_partition: 0, requested_offset: n },
});
const schema = { type: 'object', properties: { amount: { type: 'number', description: 'In <i>euros</i>.' } } };
const progress = { rules: [], approved_by: [], still_needed: 1, on_expiry: 'refuse' } as const;
/** As the inbox lists it. */
export const waiting = (n: number): WaitingApproval => ({
  ...{ approval: asked(n), decisions: ['approve', 'refuse'], progress },
  ...{ tool: { key: `tool-${n}`, title: `Tool <b>${n}</b>` }, question: `Asked ${n} <img src=x onerror=alert(1)>` },
});
/** As its page shows it. */
export const details = (n: number, more: Partial<Approval> = {}): Approval => ({
  ...{ approval: asked(n), decisions: ['approve', 'refuse'], question: `Question ${n} <img src=x onerror=alert(1)>` },
  ...{ tool: { key: `tool-${n}`, description: 'Pays <script>alert(1)</script>', input_schema: schema } },
  ...{ arguments: { amount: 12, to: { name: 'Bob' } }, approvers: ['user:ann'], requester_may_not_approve: true },
  progress,
  holds: 'once',
  asked_because: { rule: 'effect', message: 'policy.approval asks for an approval of calls that change something.' },
  ...{ steps_before: [], decision: null, decided_at: null, call: null, run_ended: null, ...more },
});
