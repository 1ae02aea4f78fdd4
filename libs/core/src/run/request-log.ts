import { logNames } from '../quote.js';
import { toolIndexCount } from '../rules/tool-indexes.js';
import type { RunState } from './run-state.js';

/** What is said of a request when it ends: exactly these eight keys. */
interface RequestLog {
  readonly request_id: string;
  readonly requested_groups: readonly string[];
  readonly initial_state: string;
  readonly state_transitions: readonly {
    readonly tool: string;
    readonly from: string;
    readonly to: string;
    readonly timestamp: string;
  }[];
  readonly available_tools: readonly string[];
  readonly filtered_by_group: readonly string[];
  readonly filtered_by_state: readonly string[];
  /** Seconds with one decimal, as `1.2s`. */
  readonly execution_time: string;
}

/**
 * As the audit has it, with the names that the run has. Read off the run's end; for a request that never began, off
 * what it asked for.
 */
export function requestLog(
  requestId: string,
  run: RunState | null,
  asked: { readonly groups: readonly string[]; readonly state: string },
  endedAt: number,
): RequestLog {
  return {
    request_id: requestId,
    requested_groups: run?.requestedGroups ?? asked.groups,
    initial_state: run?.initialState ?? asked.state,
    state_transitions: (run?.stateTransitions ?? []).map(({ tool, from, to, timestamp }) => ({
      tool,
      from,
      to,
      timestamp: new Date(timestamp).toISOString(),
    })),
    available_tools: run?.availableTools ?? [],
    filtered_by_group: run?.filteredByGroup ?? [],
    filtered_by_state: run?.filteredByState ?? [],
    execution_time: `${(Math.max(0, endedAt - (run?.startedAt ?? endedAt)) / 1000).toFixed(1)}s`,
  };
}

/** The log line of a request: of many names the first ones that the run has, and how many more there are. */
export function requestLogLine(...about: Parameters<typeof requestLog>): RequestLog {
  const [, run] = about;
  const log = requestLog(...about);
  const first = run?.firstTools ?? null;
  const namesOf = (names: readonly string[], indexes: readonly number[] | undefined) =>
    logNames(names, indexes === undefined ? names.length : toolIndexCount(indexes));
  return {
    ...log,
    requested_groups: logNames(log.requested_groups),
    available_tools: namesOf(log.available_tools, first?.available),
    filtered_by_group: namesOf(log.filtered_by_group, first?.filteredByGroup),
    filtered_by_state: namesOf(log.filtered_by_state, first?.filteredByState),
  };
}
