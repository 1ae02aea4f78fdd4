/** A mistake: the configuration is refused. */
export interface Problem {
  /** Dotted, as in the file: `tool.graph-update.group[1]`. */
  readonly path: string;
  readonly found: string;
  readonly write: string;
  /** `file:line:column` of what the path names, where it is in a file. */
  readonly position?: string;
  /** While it is compiled: the name that it is about, where there is no such thing. */
  readonly unknown?: UnknownName;
}

/** A name in a configuration of something that there is not in it. */
export interface UnknownName {
  readonly kind: 'tool' | 'group' | 'connection' | 'server' | 'entry' | 'upstream';
  readonly name: string;
}

/** Something legal that an author will want to know: cycles, dead ends, unreachable tools, unavailable tools. */
export interface Finding {
  readonly kind:
    | 'cycle'
    | 'dead_end'
    | 'unreachable_tool'
    | 'near_miss'
    | 'unknown_group'
    | 'unreachable_state'
    | 'never_available'
    | 'not_allowed'
    | 'unasked'
    | 'unanswered_approver'
    | 'unavailable'
    | 'escalation'
    | 'toolless_agent'
    | 'nothing_deferred'
    | 'simplified'
    | 'narrowed'
    | 'many_tools'
    | 'endless_list'
    | 'suspect_text'
    | 'missing_tools'
    | 'unfit_example'
    | 'unset_variable'
    | 'unknown_strategy'
    | 'min_above_max'
    | 'open_network'
    | 'empty_condition'
    | 'ends_with_run'
    | 'no_price'
    | 'no_network'
    | 'closed_to_tools';
  readonly path: string;
  readonly message: string;
}
