import type { ApprovalDecision, ConfiguredTool, Evaluator, Step, ToolEffect, Verdict } from '@sluice/core';
import { cut } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { ApprovalRequested, RequestedCall, ToolCall } from '@sluice/contracts';

const longestReason = 500;

/** A call needs an approval if either configuration says so: the one in force may only deny. */
export function isApprovalNeeded(tool: Pick<ConfiguredTool, 'id'>, judges: readonly Evaluator[]): boolean {
  // What is denied never gets this far; were it to, it would have to be asked for.
  return judges.some(({ policy, byId }) => policy.decide(byId(tool.id) ?? { id: tool.id, spec: null }) !== 'allow');
}

/**
 * Derived from the call key (run, iteration, index, tool and arguments), so that an approval is one of this very
 * call.
 */
export function approvalIdOf(callKey: string): string {
  return `a-${sha256(callKey).slice(0, 20)}`;
}

/** The reason of an outcome that the executor writes since the run was cancelled while it waited. */
export const cancelledMeanwhile = 'The run was cancelled.';

/** A decision on an approval that counts. */
export interface AcceptedDecision {
  readonly decision: ApprovalDecision;
  readonly reason: string;
}

/** What the decision means for the call. Who decided is not the model’s to know. */
export function approvalVerdict(taken: AcceptedDecision): Verdict {
  switch (taken.decision) {
    case 'approve':
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
}

/** Where a ToolCall stands on the log, and what it says. */
export interface LoggedTurn {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly record: ToolCall;
}

/** What is asked of a turn that is parked before the call at `index`. The run’s deadline holds while it waits. */
export function approvalRequest(
  { topic, partition, offset, record }: LoggedTurn,
  index: number,
  asking: Asking,
  done: readonly Step[],
  judges: { readonly granting: Evaluator; readonly inForce: Evaluator },
  now: number,
): ApprovalRequested {
  const { requestId, sessionId, iteration, thought, configVersion } = record;
  const call = record.calls[index] as RequestedCall;
  const { granting, inForce } = judges;
  const waitMs = Math.min(granting.configuration.policy.approvalMs, inForce.configuration.policy.approvalMs);
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
    expiresAt: Math.min(now + waitMs, record.run.deadline),
    inForceVersion: inForce.configuration.version,
  };
}
