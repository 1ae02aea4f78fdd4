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
  /** Words that the question has, all of them (`wordsOf`). */
  readonly words?: readonly string[];
  /** The agent that they ask. */
  readonly agent?: string;
  /** The run whose calls these answer, of agents’ runs. */
  readonly parent?: string;
  /** The viewer’s own runs alone. */
  readonly own?: true;
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
  /** Empty where no record has named one. */
  readonly model: string;
  /** Millionths of a US dollar; null where it is not known. */
  readonly microUsd: number | null;
  /** The run whose call this one answers; empty for one that a caller requested. */
  readonly parent: string;
  /** The agent that its request asks; empty where it makes a call itself, or where that is not known. */
  readonly agent: string;
  /** Grows with each write that changes the run. */
  readonly changed: number;
}

/** A page of runs, and where the next one begins; null on the last one. */
export interface RunPage {
  readonly runs: readonly ListedRun[];
  readonly next: RunCursor | null;
}

/** A place in a list of approvals, behind which the next page begins. */
export interface ApprovalCursor {
  readonly requestedAt: number;
  readonly approvalId: string;
}

/** A call that waits for an approval. */
export interface WaitingApproval extends ApprovalCursor {
  /**
   * The ApprovalRequested in the form of the wire, without its steps and with its place on the log, which a decision
   * must name.
   */
  readonly asked: Readonly<Record<string, unknown>> & {
    readonly approval_id: string;
    readonly request_id: string;
    readonly tool: string;
    readonly config_version: string;
    readonly requested_by: string;
    readonly on_behalf_of: string | null;
    readonly requested_partition: number;
    readonly requested_offset: number;
  };
}

export interface ListedSession {
  readonly sessionId: string;
  readonly runs: number;
  readonly startedAt: number;
  readonly updatedAt: number;
}

export interface AuditFilter {
  /** Milliseconds since the epoch: what was recorded at or after, and before. */
  readonly since?: number;
  readonly until?: number;
  readonly run?: string;
  readonly session?: string;
  readonly user?: string;
  readonly tool?: string;
  readonly kind?: string;
  readonly outcome?: string;
}

/** A place in the list of the audit, behind which the next page begins. */
export interface AuditCursor {
  readonly at: number;
  readonly id: string;
}

/** An entry of the audit; texts are empty where it does not say. */
export interface ListedEntry extends AuditCursor {
  readonly kind: string;
  readonly requestId: string;
  readonly sessionId: string;
  readonly actor: string;
  readonly subject: string | null;
  readonly tool: string;
  readonly outcome: string;
  /** 0 for what another than its service wrote; null where the entry does not say. */
  readonly authentic: number | null;
  readonly configVersion: string;
  readonly chain: string;
  readonly sequence: number;
  readonly sourceOffset: number;
  readonly hash: string;
  /** A JSON object. */
  readonly details: string;
}

/** What the audit has as the outcome of an approval. */
export interface DecidedApproval extends AuditCursor {
  readonly requestId: string;
  readonly sessionId: string;
  readonly configVersion: string;
  /** The details of its entry, a JSON object. */
  readonly outcome: string;
  /** Those of the entry of the request; null where that is gone. */
  readonly requested: string | null;
}

export interface LetterListFilter {
  /** Milliseconds since the epoch: dead-lettered at or after, and before. */
  readonly since?: number;
  readonly until?: number;
  readonly topic?: string;
  readonly code?: string;
  readonly session?: string;
  readonly service?: string;
}

/** A place in the list of dead letters, behind which the next page begins. */
export interface LetterCursor {
  readonly failedAt: number;
  readonly id: string;
}

/** A dead letter, without what it holds. */
export interface ListedLetter extends LetterCursor {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly service: string;
  readonly sessionId: string;
  readonly code: string;
  readonly reason: string;
  readonly attempts: number;
  readonly takenAt: number;
}
