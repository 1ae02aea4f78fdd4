/** Whose runs: what stands in a list is of one tenant alone. */
export interface Viewer {
  readonly tenantId: string;
  readonly actorId: string;
  readonly subjectId: string | null;
}

export interface RunFilter {
  /** Milliseconds since the epoch: started at or after, and before. */
  readonly since?: number;
  readonly until?: number;
  readonly user?: string;
  readonly outcome?: string;
  readonly tool?: string;
  readonly group?: string;
  readonly state?: string;
  readonly session?: string;
}

/** A place in a list of runs, behind which the next page begins. */
export interface RunCursor {
  readonly startedAt: number;
  readonly requestId: string;
}

export interface ListedRun {
  readonly requestId: string;
  readonly sessionId: string;
  readonly actor: string;
  readonly subject: string | null;
  readonly question: string;
  readonly state: string;
  readonly outcome: string;
  readonly iterations: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

/** A place in a list of approvals, behind which the next page begins. */
export interface ApprovalCursor {
  readonly requestedAt: number;
  readonly approvalId: string;
}

/** A call that waits for an approval. */
export interface WaitingApproval extends ApprovalCursor {
  /** The ApprovalRequested in the form of the wire, without its steps and with its place on the log, which a decision must name. */
  readonly asked: Readonly<Record<string, unknown>> & {
    readonly requested_by: string;
    readonly on_behalf_of: string | null;
  };
}

export interface ListedSession {
  readonly sessionId: string;
  readonly runs: number;
  readonly startedAt: number;
  readonly updatedAt: number;
}
