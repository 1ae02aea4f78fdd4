import { collectDefaultMetrics, Registry } from 'prom-client';
import { metricsIn, seconds } from './metrics/kinds.js';
import { contentMetrics } from './metrics/of-content.js';
import { discoveryMetrics } from './metrics/of-discovery.js';
import { logMetrics } from './metrics/of-the-log.js';
import { mcpMetrics } from './metrics/of-mcp.js';
import { modelMetrics } from './metrics/of-models.js';
import { filterMetrics } from './metrics/of-the-filter.js';
import { runMetrics } from './metrics/of-runs.js';
import { hubMetrics } from './metrics/of-the-hub.js';
import { notificationMetrics } from './metrics/of-notifications.js';
import { scheduleMetrics } from './metrics/of-schedules.js';
import { proxyMetrics } from './metrics/of-the-proxy.js';

/**
 * All metrics of the system. The names and types of the first nine are fixed: dashboards of other systems read them
 * (G-108 to G-117).
 */
export function createMetrics() {
  const registry = new Registry();
  const kinds = metricsIn(registry);
  const { counter, gauge, histogram } = kinds;

  return {
    registry,
    groupRequests: counter(
      'agent_tool_group_requests_total',
      'Requests by requested group, after the default.',
      'group',
    ),
    groupAvailability: gauge('agent_tool_group_availability', 'Configured tools that carry the group.', 'group'),
    filteredTools: histogram(
      'agent_filtered_tools_count',
      'Tools left after the group and state filter, one observation a filtering.',
      [0, 1, 2, 5, 10, 20, 50, 100, 500, 1000],
    ),
    stateTransitions: counter('agent_state_transitions_total', 'Changes of state by the tool that made them.', 'tool'),
    workflowDuration: histogram(
      'agent_workflow_duration_seconds',
      'Time spent in each state, observed when it is left and at the end.',
      seconds,
      'state',
    ),
    stateAvailability: gauge('agent_state_availability', 'Configured tools that are available in the state.', 'state'),
    groupAccessDenied: counter(
      'agent_group_access_denied_total',
      'Requested groups that the caller was not permitted.',
      'group',
    ),
    invalidTransitions: counter(
      'agent_invalid_state_transition_total',
      'Calls of a tool that is not available in the current state, and continuations whose state is not the recorded one.',
    ),
    escalationAttempts: counter(
      'agent_privilege_escalation_attempts_total',
      'Requests for * without the right, continuations with wider groups, and requests under another identity than the authenticated one.',
    ),

    runsEnded: counter('sluice_runs_ended_total', 'Runs by how they ended: answer, or the error code.', 'outcome'),
    runsBegun: counter(
      'sluice_runs_begun_total',
      'Runs that began, by how their requests came (openai-chat, openai-responses, anthropic, or the channel as rules know it) and the agent that they ask; empty for a call that a request makes itself.',
      'door',
      'agent',
    ),
    agentRunsEnded: counter(
      'sluice_agent_runs_ended_total',
      'Runs of agents that ended, by the name of the agent in the configuration and kind of end (answer, error).',
      'agent',
      'kind',
    ),
    duplicateRequests: counter(
      'sluice_duplicate_requests_total',
      'AgentRequests dropped because their request_id had been taken.',
    ),
    httpRequests: counter(
      'sluice_http_requests_total',
      'Requests that the gateway answered, by route and status.',
      'route',
      'status',
    ),
    lostDenials: counter(
      'sluice_denials_unaudited_total',
      'Refusals of the gateway that could not be written to the log, so that the audit lacks them.',
    ),
    followedRuns: gauge('sluice_followed_runs', 'Runs currently streamed over HTTP.'),
    hiddenTools: counter('sluice_hidden_tools_total', 'Tools withheld from the model, by first reason.', 'reason'),
    toolCalls: counter(
      'sluice_tool_calls_total',
      'Tool calls by tool, where it comes from (core, or the MCP server) and outcome (ok or the error code).',
      'tool',
      'source',
      'outcome',
    ),
    ruleRefusals: counter(
      'sluice_rule_refusals_total',
      'Calls that a rule of the configuration refused, by its name and by what it was about: arguments, total, context, time, load or history.',
      'rule',
      'kind',
    ),
    listReads: counter(
      'sluice_list_reads_total',
      'Readings of lists that bounds name and that are kept elsewhere, by list and outcome: read or failed.',
      'list',
      'outcome',
    ),
    listAge: gauge(
      'sluice_list_age_seconds',
      'Age of the values of a list that is kept elsewhere and the same for all callers, once this executor has read it.',
      'list',
    ),
    toolDuration: histogram(
      'sluice_tool_call_duration_seconds',
      'Time from the start of a call to its result.',
      seconds,
      'tool',
    ),
    unknownOutcomes: counter(
      'sluice_tool_outcome_unknown_total',
      'Calls with effects whose outcome is not known.',
      'tool',
    ),
    toolProcessEnds: counter(
      'sluice_tool_process_ends_total',
      'Processes of tool files that ended while they were needed, by tool type and reason: crash, memory, time or flood.',
      'type',
      'reason',
    ),
    reconciledCalls: counter(
      'sluice_reconciled_calls_total',
      'Calls of unknown outcome about which the tool was asked, by its answer: happened, did_not_happen or unknown.',
      'tool',
      'answer',
    ),
    deferredFirstUses: counter(
      'sluice_deferred_first_uses_total',
      'First uses in a run of a tool that was sent with its short description, by whether its page had been read: read or unread.',
      'tool',
      'documentation',
    ),
    strategyDecisions: counter(
      'sluice_strategy_decisions_total',
      'Turns of runs of another strategy than react, by what it decided: plan, call, arguments, answer or supervise; retry, simplify, judge, override or partial where results are measured.',
      'strategy',
      'action',
    ),
    stepConfidence: histogram(
      'sluice_step_confidence',
      'Confidence in results of plan steps, from 0 to 1, by the formula that measured it.',
      [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
      'kind',
    ),
    unhandledErrors: counter(
      'sluice_unhandled_errors_total',
      'Errors that no code handled: thrown where nothing catches them, or rejections without a handler.',
      'kind',
    ),
    expiredGrants: counter(
      'sluice_expired_grants_total',
      'Turns that went back to the filter because their grant had expired.',
    ),
    approvalsRequested: counter('sluice_approvals_requested_total', 'Calls that were parked for an approval.', 'tool'),
    approvalsGiven: counter(
      'sluice_approvals_given_total',
      'Approvals of calls that wait for further ones, since several persons have to approve.',
    ),
    approvalsEscalated: counter(
      'sluice_approvals_escalated_total',
      'Calls that waited so long that a rule of policy.approval let others decide too.',
      'rule',
    ),
    approvalsDecided: counter(
      'sluice_approvals_decided_total',
      'Approvals by outcome: approve, refuse, expire, or run where the rules let the call run when time was up.',
      'decision',
    ),
    standingApprovals: counter(
      'sluice_standing_approvals_total',
      'Standing approvals that were given or revoked.',
      'action',
    ),
    standingCalls: counter('sluice_standing_approval_calls_total', 'Calls that ran by a standing approval.', 'tool'),
    approvalsNotTaken: counter(
      'sluice_approval_decisions_not_taken_total',
      'Decisions that did not count, by the reason.',
      'reason',
    ),
    approvalsWaiting: gauge(
      'sluice_approvals_waiting',
      'Approvals without a decision, up to 10,000; every executor counts them all.',
    ),
    cancellations: counter(
      'sluice_cancellations_total',
      'Cancellations by outcome: cancelled, or why one does not count: not_authenticated, not_its_caller, no_such_run or ended.',
      'outcome',
    ),
    connectionCredentials: counter(
      'sluice_connection_credentials_total',
      'Credential requests to connection brokers, by result: given, denied or unreachable.',
      'connection',
      'outcome',
    ),
    hiddenCredentials: counter(
      'sluice_credentials_hidden_total',
      'Calls whose tool repeated the credential it was given, which was taken out.',
      'tool',
    ),
    deadLetters: counter(
      'sluice_dead_letters_total',
      'Records dead-lettered, by topic and fault code.',
      'topic',
      'code',
    ),
    auditEntries: counter('sluice_audit_entries_total', 'Entries that the audit wrote, by kind.', 'kind'),
    auditCheckpoints: counter('sluice_audit_checkpoints_total', 'Signed checkpoints of audit chains.'),
    auditChains: gauge('sluice_audit_chains', 'Audit chains that this process has added to.'),
    auditUnsealed: gauge(
      'sluice_audit_checkpoint_age_seconds',
      'How long the oldest entry that no checkpoint covers has been there; 0 if all are covered.',
    ),
    auditBroken: counter(
      'sluice_audit_chain_broken_total',
      'Times that the audit had lost its place in a chain, or found what it had written not to be there.',
    ),
    redriven: counter(
      'sluice_redriven_records_total',
      'Dead letters that were re-driven and taken up again, by the topic they went to.',
      'topic',
    ),
    inFlight: gauge(
      'sluice_records_in_flight',
      'Records consumed from the log and not yet finished.',
      'consumer_group',
    ),
    ...logMetrics(kinds),
    ...runMetrics(kinds),
    ...filterMetrics(kinds),
    ...modelMetrics(kinds),
    ...hubMetrics(kinds),
    ...contentMetrics(kinds),
    ...proxyMetrics(kinds),
    ...discoveryMetrics(kinds),
    ...mcpMetrics(kinds),
    ...notificationMetrics(kinds),
    ...scheduleMetrics(kinds),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

/** The process's own metrics; once a process, since they read process-wide state. */
export function collectProcessMetrics(metrics: Metrics): void {
  collectDefaultMetrics({ register: metrics.registry });
}
