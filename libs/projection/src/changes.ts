import { agentName } from '@sluice/core';
import type { AgentRequest, AgentStep, CallDecision, Run } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { wordsOf } from './words.js';

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
  /** When the run must have ended, but for what it waits for people. */
  readonly deadline: number;
  readonly groups: readonly string[];
  /** The model that the record names, as `provider/name`; empty where it names none. */
  readonly model: string;
  /** What the run cost so far, in millionths of a US dollar; null where that is not known. */
  readonly microUsd: number | null;
  /** The run whose call this one answers as an agent; empty for one that a caller requested. */
  readonly parent: string;
  /** The agent that the request asks, with the first record of a run; empty where it makes a call itself. */
  readonly agent: string;
  /** The words that the question is found by; nothing but with the first record of a run. */
  readonly words: readonly string[];
  /** Steps that are new with this record. */
  readonly steps: readonly AgentStep[];
}

/** What a run cost so far under the configuration of this version, in millionths of a US dollar; null: not known. */
export type RunCost = (configVersion: string, run: Run) => number | null;

/** Behind every iteration. */
const endRank = Number.MAX_SAFE_INTEGER;

/** The change that a record makes to its run; null for one that says nothing of a run, or not whose it is. */
export function changeOf(message: Incoming, costOf: RunCost): RunChange | null {
  switch (message.topic) {
    case 'agent.toolsets': {
      const { request, state, iteration, run } = message.record;
      const first =
        iteration === 1
          ? { words: wordsOf(request.question), agent: request.call === null ? agentName(request) : '' }
          : {};
      return ofRun(message, run, { question: request.question, state, rank: iteration * 3, ...first }, costOf);
    }
    case 'agent.tool-calls': {
      const { request, iteration, run, model, call } = message.record;
      const said = { question: request.question, state: request.state ?? '', rank: iteration * 3 + 1 };
      return ofRun(message, run, { ...said, model: model?.name ?? '', ...firstOfCall(call, request) }, costOf);
    }
    case 'agent.steps': {
      const { next, iteration, run, steps, call } = message.record;
      const said = { question: next.question, state: next.state ?? '', rank: iteration * 3 + 2, steps };
      return ofRun(message, run, { ...said, ...firstOfCall(call, next) }, costOf);
    }
    case 'agent.responses': {
      const { run, question, state, error, endedAt, iterations, model } = message.record;
      if (run === null) return null;
      const outcome = error?.code ?? 'answer';
      const said = { question, state, rank: endRank, outcome, endedAt, iterations, model: model?.name ?? '' };
      return ofRun(message, run, said, costOf);
    }
    default:
      return null;
  }
}

/** What the first record of a run says alone, where that is of a call that its request makes itself. */
function firstOfCall(
  call: CallDecision | null,
  { question }: Pick<AgentRequest, 'question'>,
): Partial<Pick<RunChange, 'words'>> {
  return call === null ? {} : { words: wordsOf(question) };
}

function ofRun(
  {
    record,
    timestamp,
  }: {
    readonly record: { readonly requestId: string; readonly sessionId: string; readonly configVersion: string };
    readonly timestamp: number;
  },
  run: Run,
  said: Pick<RunChange, 'question' | 'state' | 'rank'> & Partial<RunChange>,
  costOf: RunCost,
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
    deadline: run.deadline,
    groups: run.requestedGroups,
    model: '',
    microUsd: rounded(costOf(record.configVersion, run)),
    parent: run.parent?.requestId ?? '',
    agent: '',
    words: [],
    steps: [],
    ...said,
  };
}

function rounded(microUsd: number | null): number | null {
  return microUsd === null ? null : Math.round(microUsd);
}
