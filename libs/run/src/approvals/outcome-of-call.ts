import { topics } from '@sluice/contracts';
import type { AgentStep, ApprovalOutcome, ApprovalRequested } from '@sluice/contracts';
import type { Verifier } from '@sluice/core';
import type { LogReader } from '@sluice/bus';
import type { ApprovalClaims } from '../claims/approvals.js';
import { GenuineEnds, isGenuineStep } from '../signing/genuine-ends.js';

/** What the log has behind a decision. */
interface OutcomeOfCall {
  /** The decision that was taken; null while that is not on the log. */
  readonly outcome: ApprovalOutcome | null;
  /** The step of the call; null while the turn goes on. */
  readonly step: AgentStep | null;
  /** How the run ended, where it did without a step of the call: the code of its error, or `answer`. */
  readonly runEnded: string | null;
}

/**
 * The outcome of a call that was decided on, read off the log from `since` on, when the call was asked about. Only what
 * services wrote counts.
 */
export async function outcomeOfCall(
  requested: ApprovalRequested,
  since: number,
  log: LogReader,
  parts: { readonly signatures: Verifier; readonly claims: Pick<ApprovalClaims, 'isDecided' | 'isVouched'> },
  signal: AbortSignal,
): Promise<OutcomeOfCall> {
  const { signatures, claims } = parts;
  const { approvalId, requestId, sessionId, tenantId } = requested;
  let taken: ApprovalOutcome | null = null;
  let step: AgentStep | undefined;
  let runEnded: string | null = null;
  const ofKey = (key: string): boolean => key === sessionId;
  const options = { from: { time: since }, signal, ofKey, onUndecodable: () => undefined };
  const read = new GenuineEnds(log, signatures).read([topics.approvals, topics.steps, topics.responses], options);
  for await (const message of read) {
    if (message.topic === topics.approvals) {
      const { outcome, requested: next } = message.record;
      if (outcome?.approvalId === approvalId && (await claims.isDecided(outcome))) taken = outcome;
      // Where another call of the turn waits now, the steps before it stand in what was asked.
      const isNext = next?.requestId === requestId && next.tenantId === tenantId;
      if (isNext && (await claims.isVouched(next))) step ??= stepOf(requested, next);
    } else if (message.record.requestId === requestId && message.record.run?.principal?.tenantId === tenantId) {
      if (message.topic === topics.responses) runEnded = message.record.error?.code ?? 'answer';
      else if (step === undefined && (await isGenuineStep(message, signatures)))
        step = stepOf(requested, message.record);
    }
    if (step !== undefined && taken !== null) break;
  }
  return { outcome: taken, step: step ?? null, runEnded: step === undefined ? runEnded : null };
}

function stepOf(
  { iteration, index, toolCallId }: ApprovalRequested,
  turn: { readonly iteration: number; readonly steps: readonly AgentStep[] },
): AgentStep | undefined {
  if (turn.iteration !== iteration) return undefined;
  return turn.steps.find((step) => step.index === index && step.toolCallId === toolCallId);
}
