import type { RunState } from './run-state.js';

/** The log line of a request: exactly these eight keys. */
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

/** Read off the run's end; for a request that never began, off what it asked for. */
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
