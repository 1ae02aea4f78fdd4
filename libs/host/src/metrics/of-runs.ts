import type { Kinds } from './kinds.js';
import { seconds } from './kinds.js';

/** What runs do and who is refused one. */
export function runMetrics({ counter, gauge, histogram }: Kinds) {
  return {
    runDuration: histogram(
      'sluice_run_duration_seconds',
      'Time from when the filter took a request until its end, by kind of end (answer, error).',
      seconds,
      'kind',
    ),
    stateChanges: counter('sluice_state_changes_total', 'Changes of state from one to another.', 'from', 'to'),
    toolBytes: counter(
      'sluice_tool_bytes_total',
      'UTF-8 bytes that went into tools and came out (arguments, result).',
      'tool',
      'direction',
    ),
    refusedRequests: counter(
      'sluice_requests_refused_total',
      'Requests refused before their first iteration, by who asked (the first 100 of a process, then other) and why: credential, groups or escalation.',
      'tenant',
      'actor',
      'reason',
    ),
    credentialsWithoutGroups: counter(
      'sluice_credentials_without_groups_total',
      'Credentials that hold and give none of the groups of the configuration, by why: absent, overage, empty, unknown, unmapped, not_listed. The log says whose.',
      'reason',
    ),
    runsNotBegun: counter(
      'sluice_runs_not_begun_total',
      'Runs that a door (http, mcp) did not begin since the tenant (the first 100 of a process, then other) had limits.open_runs open.',
      'door',
      'tenant',
    ),
    approvalsOldest: gauge(
      'sluice_approvals_oldest_seconds',
      'Age of the oldest approval without a decision, 0 if there is none.',
    ),
  };
}
