import type { ApprovalAsk, ApprovalDecision, AskingRule, Evaluator, Step, ToolEffect, Verdict } from '@sluice/core';
import { afterWait, callsAround, cut, defaultAgent, defaultParkedMs, quote, sentenceList } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { Edit } from './edit.js';
import type { ApprovalRequested, AskedQuestion, RequestedCall, ToolCall } from '@sluice/contracts';
import { agentOf } from '../conditions.js';
import { approvalWaitMs, askingRules } from './asks.js';

const longestReason = 500;

/**
 * Derived from the call key (run, iteration, index, tool and arguments), so that an approval is one of this very
 * call.
 */
export function approvalIdOf(callKey: string): string {
  return `a-${sha256(callKey).slice(0, 20)}`;
}

/** As an approval’s: of one question of this very call. */
export function questionIdOf(callKey: string, round: number): string {
  return `q-${sha256(`${callKey}/${round}`).slice(0, 20)}`;
}

/** The reason of an outcome that the executor writes since a question was answered, and no decision says so. */
export const answeredMeanwhile = 'Its caller answered.';

/** The reason of an outcome that the executor writes where what a parked call goes on with is gone. */
export const formGone = 'What the call needs to go on is no longer kept.';

/** The reason of an outcome that the executor writes since the run was cancelled while it waited. */
export const cancelledMeanwhile = 'The run was cancelled.';

/** The reason of an outcome that the executor writes since the turn went on without the call’s approval. */
export const needlessMeanwhile = 'Its turn went on, and the call needed no approval any more.';

/** The reason of an outcome that the executor writes where time was up and the rules let the call run then. */
export function runsAtExpiry(rules: readonly Pick<AskingRule, 'name'>[]): string {
  const names = rules.map(({ name }) => quote(name));
  return `No decision came in time, and the ${names.length === 1 ? 'rule' : 'rules'} ${sentenceList(names)} ${names.length === 1 ? 'lets' : 'let'} the call run then.`;
}

/** A decision on an approval that counts. */
export interface AcceptedDecision {
  readonly decision: ApprovalDecision;
  readonly reason: string;
  /** The arguments that the approver gave the call; absent where it runs with its own. */
  readonly edit?: Edit;
  /** A digest of what it is a decision on; absent where an earlier version wrote it. */
  readonly bound?: string;
}

/**
 * Whether the call is another one than that which was approved, in anything that the approval was of: then it is asked
 * about again. A refusal stands.
 */
export function isOutdated({ decision, bound = '' }: AcceptedDecision, now: string): boolean {
  return (decision === 'approve' || decision === 'run') && bound !== '' && bound !== now;
}

/** The id of an approval of the same call that is asked for again, since it became another one in something. */
export function approvalIdAgain(callKey: string, bound: string): string {
  return approvalIdOf(`${callKey}\n${bound}`);
}

/** What the decision means for the call. Who decided is not the model’s to know. */
export function approvalVerdict(taken: AcceptedDecision): Verdict {
  switch (taken.decision) {
    case 'approve':
    case 'run':
      return { ok: true };
    case 'refuse': {
      const why = taken.reason === '' ? '' : ` The reason given: ${cut(taken.reason, longestReason)}`;
      const message = `This call was not approved, so it was not made. Go on without it, or answer.${why}`;
      return { ok: false, code: 'policy_denied', reason: 'approval_refused', message };
    }
    case 'expire': {
      const message = 'Nobody approved this call in time, so it was not made. Go on without it, or answer.';
      return { ok: false, code: 'policy_denied', reason: 'approval_expired', message };
    }
  }
}

/** A call that waits for an approval, as its ApprovalRequested describes it. */
export interface Asking {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly effect: ToolEffect;
  /** The validated arguments as JSON, redacted. */
  readonly arguments: string;
  readonly requestedBy: string;
  readonly onBehalfOf: string | null;
  readonly tenantId: string;
  readonly asks: readonly ApprovalAsk[];
  /** The state before the call. */
  readonly state: string;
  /** A digest of what the approval is of. */
  readonly bound: string;
  /** Null where it waits for an approval. */
  readonly question: AskedQuestion | null;
}

/** Where a ToolCall stands on the log, and what it says. */
export interface LoggedTurn {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly record: ToolCall;
}

/** Which approvals of its turn one is asked for with. */
interface RequestGroup {
  /** Their ids. */
  readonly others: readonly string[];
  /** The one that the turn waits for first; null where it is this one. */
  readonly behind: string | null;
}

/**
 * What is asked of a turn that is parked before the call at `index`, or before one that comes earlier. The time that
 * it waits does not count towards the run’s deadline.
 */
export function approvalRequest(
  { topic, partition, offset, record }: LoggedTurn,
  index: number,
  { asks, ...asking }: Asking,
  done: readonly Step[],
  judges: { readonly granting: Evaluator; readonly inForce: Evaluator },
  now: number,
  { others, behind }: RequestGroup = { others: [], behind: null },
): ApprovalRequested {
  const { requestId, sessionId, iteration, thought, configVersion } = record;
  const call = record.calls[index] as RequestedCall;
  const { granting, inForce } = judges;
  const { parkedMs } = record.run;
  const agent = agentOf(record, granting);
  return {
    ...asking,
    requestId,
    sessionId,
    iteration,
    index,
    tool: call.tool,
    argumentsHash: sha256(call.arguments),
    thought,
    configVersion,
    topic,
    partition,
    offset,
    steps: done,
    requestedAt: now,
    expiresAt: now + waitMs(call.tool, record, asks, [granting, inForce], now),
    rules: askingRules(asks, now),
    askedBecause: asks.map(({ message }) => message).join(' '),
    groups: record.groups,
    inForceVersion: inForce.configuration.version,
    parkedMs,
    others,
    behind,
    agent: agent === defaultAgent || agent === '' ? null : agent,
  };
}

/** How long the call may wait, milliseconds: the shortest time that any of the configurations gives it. */
export function waitMs(
  toolId: string,
  record: ToolCall,
  asks: readonly ApprovalAsk[],
  judges: readonly Evaluator[],
  now: number,
): number {
  return Math.min(approvalWaitMs(asks, judges), longestWaitMs(toolId, record, judges, now));
}

/** How long people may keep the call waiting, whatever asks them. */
export function longestWaitMs(
  toolId: string,
  { run, request }: ToolCall,
  judges: readonly Evaluator[],
  now: number,
): number {
  const times = judges.flatMap(({ configuration: { limits }, byId }) => [
    (limits.parkedMs ?? defaultParkedMs) - (run.parkedMs ?? 0),
    byId(toolId)?.parkedMs ?? Infinity,
    ...callsAround(run).map(({ tool }) => byId(tool)?.parkedMs ?? Infinity),
  ]);
  return Math.max(0, Math.min(...times, (wantedBy({ run, request }) ?? Infinity) - now));
}

/**
 * When the run’s answer is wanted at the latest, however long it waits for people: as its request says, or that of
 * the run that calls it.
 */
export function wantedBy({ run, request }: Pick<ToolCall, 'run' | 'request'>): number | null {
  return run.parent === null ? request.deadline : run.parent.wantedBy;
}

/**
 * The turn as it goes on behind what was asked: with the time that its run had left when it began to wait. `decidedAt`
 * is when the log took the outcome, milliseconds since the epoch.
 */
export function afterApproval(
  turn: ToolCall,
  { parkedMs, requestedAt, expiresAt }: Pick<ApprovalRequested, 'parkedMs' | 'requestedAt' | 'expiresAt'>,
  decidedAt: number,
): ToolCall {
  const total = (parkedMs ?? 0) + Math.max(0, Math.min(decidedAt, expiresAt) - requestedAt);
  return { ...turn, run: afterWait(turn.run, total, wantedBy(turn)) };
}
