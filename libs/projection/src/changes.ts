import type { AgentStep, Run } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';

/** What a record says of its run. */
export interface RunChange {
  readonly tenant: string;
  readonly requestId: string;
  readonly sessionId: string;
  readonly actor: string;
  readonly subject: string | null;
  readonly question: string;
  readonly state: string;
  /** `running`, `answer`, or the code of the error. */
  readonly outcome: string;
  /** The dead letter that this attempt of the run was re-driven from. */
  readonly attempt: string | null;
  /** Which of two records of an attempt is the later one, in whatever order they come. */
  readonly rank: number;
  readonly iterations: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly startedAt: number;
  readonly at: number;
  readonly endedAt: number | null;
  readonly groups: readonly string[];
  /** Steps that are new with this record. */
  readonly steps: readonly AgentStep[];
}

/** Behind every iteration. */
const endRank = Number.MAX_SAFE_INTEGER;

/** The change that a record makes to its run; null for one that says nothing of a run, or not whose it is. */
export function changeOf(message: Incoming): RunChange | null {
  switch (message.topic) {
    case 'agent.toolsets': {
      const { request, state, iteration, run } = message.record;
      return ofRun(message, run, { question: request.question, state, rank: iteration * 3 });
    }
    case 'agent.tool-calls': {
      const { request, iteration, run } = message.record;
      return ofRun(message, run, { question: request.question, state: request.state ?? '', rank: iteration * 3 + 1 });
    }
    case 'agent.steps': {
      const { next, iteration, run, steps } = message.record;
      const said = { question: next.question, state: next.state ?? '', rank: iteration * 3 + 2, steps };
      return ofRun(message, run, said);
    }
    case 'agent.responses': {
      const { run, question, state, error, endedAt, iterations } = message.record;
      if (run === null) return null;
      const outcome = error?.code ?? 'answer';
      return ofRun(message, run, { question, state, rank: endRank, outcome, endedAt, iterations });
    }
    default:
      return null;
  }
}

function ofRun(
  {
    record,
    timestamp,
  }: { readonly record: { readonly requestId: string; readonly sessionId: string }; readonly timestamp: number },
  run: Run,
  said: Pick<RunChange, 'question' | 'state' | 'rank'> & Partial<RunChange>,
): RunChange | null {
  const { principal } = run;
  if (principal === null) return null;
  return {
    tenant: principal.tenantId,
    requestId: record.requestId,
    sessionId: record.sessionId,
    actor: principal.actorId,
    subject: principal.subjectId,
    outcome: 'running',
    attempt: run.redrive,
    iterations: run.iteration,
    inputTokens: run.inputTokens,
    cachedInputTokens: run.cachedInputTokens,
    outputTokens: run.outputTokens,
    startedAt: run.startedAt,
    at: timestamp,
    endedAt: null,
    groups: run.requestedGroups,
    steps: [],
    ...said,
  };
}
