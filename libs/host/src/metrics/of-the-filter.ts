import type { Kinds } from './kinds.js';

/** What decisions of the filter take, and what rules on availability go by. */
export function filterMetrics({ counter, gauge, histogram }: Kinds) {
  return {
    filterDuration: histogram(
      'sluice_filter_duration_seconds',
      'Time that one decision of the filter took, without measuring loads and signing.',
      [0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.1],
    ),
    filterMemory: counter(
      'sluice_filter_memory_total',
      'Look-ups of a decision for groups and a state, by result: hit, or miss where it had to be made.',
      'result',
    ),
    fallbackGroups: counter(
      'sluice_fallback_groups_total',
      'Turns in which a group stood in for a requested one that had no available tool.',
      'group',
    ),
    measuredLoad: gauge(
      'sluice_rule_load',
      'The load that rules on availability were last judged by, by measure: calls_in_flight, call_seconds_p95, or prometheus for the last query.',
      'measure',
    ),
    unmeasuredLoads: counter(
      'sluice_rule_load_unmeasured_total',
      'Times that a load could not be measured, so that the rules about it closed their tools.',
    ),
  };
}
