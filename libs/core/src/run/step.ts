/** One step of a run. Structurally the AgentStep of the wire. */
export interface Step {
  readonly thought: string;
  /** The tool's configuration key, or what the model wrote if no tool has that name. */
  readonly action: string;
  /** The arguments as the model wrote them. */
  readonly arguments: string;
  /** The redacted result as JSON text (a string result as it is), or the safe error message. */
  readonly observation: string;
  /** `ok`, or the tool error code. */
  readonly outcome: string;
  /** The finer reason of a failed call, else null. */
  readonly reason: string | null;
  readonly stateBefore: string;
  /** The state after the step. */
  readonly state: string;
  readonly toolCallId: string;
  readonly iteration: number;
  readonly index: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** A keyed hash of the result before it was redacted, for the audit; null in a history, and where no result came. */
  readonly resultHash: string | null;
  /** The run that the call was, where its tool is an agent; else null. */
  readonly agentRun: AgentRun | null;
}

/** The call that a run answers, where it runs as an agent tool. Structurally the ParentCall of the wire. */
export interface ParentCall {
  /** The tool’s id. */
  readonly tool: string;
  readonly requestId: string;
  readonly sessionId: string;
  readonly toolCallId: string;
  /** Where its turn is parked on agent.tool-calls, and before which of its calls. */
  readonly partition: number;
  readonly offset: number;
  readonly index: number;
  /** When the call began, milliseconds since the epoch. */
  readonly startedAt: number;
  /** What the run may use up; null for no limit. */
  readonly maxTokens: number | null;
  readonly maxMicroUsd: number | null;
  /** The calls of the turn before this one, which are done. */
  readonly steps: readonly Step[];
}

/** The run that a call of an agent was. Structurally the AgentRun of the wire. */
export interface AgentRun {
  readonly requestId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}
