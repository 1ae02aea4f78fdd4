import type { AskedApproval, EditedArguments, IncompleteAnswer, StepQuestion } from './generated/api.js';

export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** Where a run is to be found again. */
export interface RunPlace {
  readonly request_id: string;
  readonly session_id: string;
  /** Milliseconds since the epoch; no record of the run is older. */
  readonly since: number;
  /** Opens this run where the gateway has no identity. */
  readonly token?: string;
}

/** Whether a decision on a call counted; `not_taken` says why it did not. */
export interface ApprovalOutcome {
  readonly approval_id: string;
  readonly request_id: string;
  readonly decision: string;
  readonly decided_by: string;
  readonly reason: string;
  readonly not_taken: string | null;
  /** How many approvals the call waits for behind this one; 0: it waits no more. */
  readonly still_needed: number;
  /** All who have approved the call so far, where it needs several. */
  readonly approved_by: readonly string[];
}

/** Others may decide on a call too, since it has waited for a time. */
export interface ApprovalEscalation {
  readonly approval_id: string;
  readonly request_id: string;
  readonly tool: string;
  /** The rule of policy.approval that says so. */
  readonly rule: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** An agent’s run, and the call that it is. */
export interface AgentCall {
  readonly run_id: string;
  /** The tool as the model named it. */
  readonly name: string;
  /** The `tool_call_id` of the call. */
  readonly call_id: string;
  /** The run whose call it is: this one, or another agent’s. */
  readonly caller_run_id: string;
}

/** What happens in a run, each thing once, however often the connection was cut. */
export type RunEvent =
  /** First: where the run is. */
  | ({ readonly type: 'run' } & RunPlace)
  /** An iteration begins, in this state, with the ids of the tools offered. */
  | {
      readonly type: 'iteration';
      readonly iteration: number;
      readonly state: string;
      readonly tools: readonly string[];
    }
  /**
   * The next piece of what the model says. Another `part` begins where it says something else instead: the last part
   * is the answer.
   */
  | { readonly type: 'text'; readonly iteration: number; readonly part: number; readonly text: string }
  | { readonly type: 'reasoning'; readonly iteration: number; readonly text: string }
  | {
      readonly type: 'tool_call';
      readonly iteration: number;
      readonly tool_call_id: string;
      /** The tool’s id. */
      readonly tool: string;
      /** As the model wrote them: JSON. */
      readonly arguments: string;
    }
  /** Seen by those alone who follow meanwhile. */
  | { readonly type: 'tool_started'; readonly tool_call_id: string }
  | {
      readonly type: 'tool_progress';
      readonly tool_call_id: string;
      readonly text: string;
      /** How far the call has come, and of how much, where the tool’s MCP server says so; else null. */
      readonly progress: number | null;
      readonly total: number | null;
    }
  /** The model could not be had: why, how often so far, and when it is asked again, in milliseconds since the epoch. */
  | {
      readonly type: 'model_retry';
      readonly iteration: number;
      readonly attempt: number;
      readonly reason: string;
      readonly retry_at: number;
    }
  | {
      readonly type: 'tool_result';
      readonly tool_call_id: string;
      readonly result: unknown;
      readonly is_error: boolean;
      /** Whether the result is there while other calls of the turn go on; another one follows when it is on record. */
      readonly is_preliminary: boolean;
      /**
       * Of a result on record: `ok` or the tool error, its reason, the states before and after, what the tool’s server
       * asked meanwhile, the rule that refused the call, what an approver changed its arguments to, and what was found
       * out to judge it (absent where an older gateway sent it); else null.
       */
      readonly step: {
        readonly outcome: string;
        readonly reason: string | null;
        readonly state_before: string;
        readonly state: string;
        readonly questions?: readonly StepQuestion[];
        readonly rule?: string | null;
        readonly edited?: EditedArguments | null;
        readonly facts?: Readonly<Record<string, string>>;
      } | null;
    }
  /** What the run’s strategy decided for a turn. */
  | { readonly type: 'decision'; readonly decision: Readonly<Record<string, unknown>> }
  | { readonly type: 'approval_requested'; readonly approval: AskedApproval }
  | { readonly type: 'approval_outcome'; readonly outcome: ApprovalOutcome }
  | { readonly type: 'approval_escalated'; readonly escalation: ApprovalEscalation }
  | { readonly type: 'iteration_end'; readonly iteration: number; readonly usage: Usage }
  /** What happens in the run of an agent that this run calls; its `end` is the end of the agent’s run. */
  | { readonly type: 'agent'; readonly agent: AgentCall; readonly event: RunEvent }
  /** Data of a name that this version of the client does not know. */
  | { readonly type: 'data'; readonly name: string; readonly data: unknown }
  /** Last: the answer, or why there is none. */
  | {
      readonly type: 'end';
      readonly answer: string | null;
      /** The answer as JSON text that fits the answer schema; null where none was given, and for an error. */
      readonly structured: string | null;
      readonly error: { readonly code: string; readonly message: string } | null;
      /** Why the answer is not a whole one, with the provider’s word for it; null where it is whole. */
      readonly incomplete: IncompleteAnswer | null;
      readonly usage: Usage;
    };
