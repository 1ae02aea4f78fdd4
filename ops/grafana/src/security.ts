import { dashboardOf } from './dashboard.ts';
import { columns, figure, lines, rows } from './panels.ts';
import { increase, of, orZero, rate, sumBy } from './queries.ts';

/** The faults of records that are not their run's own (docs/security.md). */
const forged = 'code=~"grant_invalid|continuation_invalid|signature_invalid|groups_widened|state_altered|replayed"';
const denials = 'outcome=~"policy_denied|authz_denied"';

export const security = dashboardOf({
  name: 'security',
  title: 'Security',
  description: 'Who was refused what, and what looks like manipulation. docs/security.md says what is promised.',
  rows: {
    'In the time range': [
      figure(
        {
          title: 'Requests refused',
          description: 'Before their first iteration: no valid credential, groups that are not permitted, or worse.',
          unit: 'short',
        },
        orZero(sumBy('', increase('sluice_requests_refused_total'))),
      ),
      figure(
        {
          title: 'Escalation attempts',
          description:
            'Requests for * without the right, continuations with wider groups, requests under another name.',
          unit: 'short',
        },
        sumBy('', increase('agent_privilege_escalation_attempts_total')),
        1,
      ),
      figure(
        {
          title: 'Invalid transitions',
          description: 'Calls of a tool that its state does not have, and continuations whose state was altered.',
          unit: 'short',
        },
        sumBy('', increase('agent_invalid_state_transition_total')),
        10,
      ),
      figure(
        {
          title: 'Forged records',
          description: 'Records that are not their run’s own. A client that should not can write to the topics.',
          unit: 'short',
        },
        sumBy('', increase('sluice_dead_letters_total', forged)),
        1,
      ),
      figure(
        {
          title: 'Audit chain broken',
          description: 'Times that the audit had lost its place in a chain, or missed what it had written there.',
          unit: 'short',
        },
        sumBy('', increase('sluice_audit_chain_broken_total')),
        1,
      ),
      figure(
        {
          title: 'Calls denied',
          description: 'By policy, by group and state, or by the authorizer.',
          unit: 'short',
        },
        orZero(sumBy('', increase('sluice_tool_calls_total', denials))),
      ),
    ],
    Requests: [
      lines(
        {
          title: 'Requests refused by reason',
          description: 'credential: missing or not valid. groups: not permitted. escalation: looks like manipulation.',
          unit: 'reqps',
        },
        { expr: orZero(sumBy('reason', rate('sluice_requests_refused_total'))), legend: '{{reason}}' },
      ),
      lines(
        {
          title: 'Groups refused',
          description: 'Which groups were asked for without permission; those no tool carries count as “other”.',
          unit: 'cps',
        },
        { expr: sumBy('group', rate('agent_group_access_denied_total')), legend: '{{group}}' },
      ),
      lines(
        {
          title: 'Denials that the audit lacks',
          description: 'Refusals of the gateway that could not be written to the log. Its lines have them.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('', rate('sluice_denials_unaudited_total'))), legend: 'denials' },
      ),
      lines(
        {
          title: 'Credentials without groups',
          description: 'They hold and give none of the groups of the configuration, by why. The log says whose.',
          unit: 'reqps',
        },
        { expr: orZero(sumBy('reason', rate('sluice_credentials_without_groups_total'))), legend: '{{reason}}' },
      ),
      lines(
        {
          title: 'Unknown groups asked for',
          description: 'Names that no tool carries: a mistake upstream, or a client that tries names.',
          unit: 'reqps',
        },
        { expr: sumBy('', rate('agent_tool_group_requests_total', 'group="other"')), legend: 'unknown' },
      ),
      rows(
        {
          title: 'Who was refused',
          description:
            'By tenant and actor of the verified credential; without one they are unknown. The first 100 of a process are named.',
          unit: 'short',
        },
        orZero(`topk(50, ${sumBy('tenant, actor, reason', increase('sluice_requests_refused_total'))} > 0)`),
        ...columns({ tenant: 'Tenant', actor: 'Actor', reason: 'Reason', Value: 'Requests' }),
      ),
    ],
    'Runs and records': [
      lines(
        {
          title: 'Calls denied by tool',
          description: 'What models tried and were not allowed. A model only sees eligible tools, so few are expected.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('tool, outcome', rate('sluice_tool_calls_total', denials))),
          legend: '{{tool}}: {{outcome}}',
        },
      ).span(12),
      lines(
        {
          title: 'Escalation and invalid transitions',
          description: 'The counters of the specification. Escalation should stay at zero.',
          unit: 'cps',
        },
        { expr: sumBy('', rate('agent_privilege_escalation_attempts_total')), legend: 'escalation' },
        { expr: sumBy('', rate('agent_invalid_state_transition_total')), legend: 'invalid transition' },
      ).span(12),
      lines(
        {
          title: 'Forged records by topic and code',
          description: 'Put aside; the runs they meant to change went on unharmed.',
          unit: 'cps',
        },
        {
          expr: orZero(`${sumBy('topic, code', rate('sluice_dead_letters_total', forged))} > 0`),
          legend: '{{topic}}: {{code}}',
        },
      ).span(12),
      lines(
        {
          title: 'Decisions that did not count',
          description:
            'Decisions on approvals by an actor who may not decide, or on a call that is not the one asked for.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('reason', rate('sluice_approval_decisions_not_taken_total'))), legend: '{{reason}}' },
      ).span(12),
    ],
    Connections: [
      lines(
        {
          title: 'Credentials asked for',
          description: 'Where connections get theirs, by result. Denied or unreachable: the calls were not made.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('connection, outcome', rate('sluice_connection_credentials_total'))),
          legend: '{{connection}}: {{outcome}}',
        },
      ).span(12),
      lines(
        {
          title: 'Credentials hidden',
          description: 'Calls whose tool repeated the credential it was given. It was taken out; mend the tool.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('tool', rate('sluice_credentials_hidden_total'))), legend: '{{tool}}' },
      ).span(12),
    ],
    Audit: [
      lines(
        {
          title: 'Entries by kind',
          description: 'What the audit writes a second. Nothing while there is work: it does not run, or waits.',
          unit: 'cps',
        },
        { expr: sumBy('kind', rate('sluice_audit_entries_total')), legend: '{{kind}}' },
      ),
      lines(
        {
          title: 'Not yet sealed',
          description: 'Age of the oldest entry that no signed checkpoint covers.',
          unit: 's',
        },
        { expr: `max(${of('sluice_audit_checkpoint_age_seconds')})`, legend: 'age' },
      ),
      lines(
        {
          title: 'Chains and checkpoints',
          description: 'Chains that the processes have added to, and checkpoints a minute.',
          unit: 'short',
        },
        { expr: sumBy('', of('sluice_audit_chains')), legend: 'chains' },
        { expr: `60 * ${sumBy('', rate('sluice_audit_checkpoints_total'))}`, legend: 'checkpoints' },
      ),
    ],
  },
});
