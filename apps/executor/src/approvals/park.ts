import type { Evaluator, Step } from '@sluice/core';
import { make, topics } from '@sluice/contracts';
import type { ApprovalRequested, ToolCall } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import {
  ApprovalClaims,
  approvalRequest,
  CallerForms,
  keepAttempt,
  keepDeadline,
  runOfRecord,
  wantedBy,
} from '@sluice/run';
import type { Asking, Loaded } from '@sluice/run';
import type { Runtime } from '@sluice/host';

/**
 * Parks a turn before the call at `index`: the ToolCall stays where it is on the log, and what goes out in place of a
 * result says where that is, what is asked, and which calls are done. The time that it waits does not count towards
 * the run’s deadline: the ledger keeps until when the run may last, for the filter, which watches deadlines.
 */
export async function park(
  message: Incoming<'agent.tool-calls'>,
  index: number,
  { asking, askedAt }: { readonly asking: Asking; readonly askedAt: number },
  done: readonly Step[],
  judges: readonly Loaded[],
  context: HandlerContext,
  runtime: Runtime,
): Promise<readonly Outgoing[]> {
  const { log, metrics } = runtime;
  const { record } = message;
  const { requestId, sessionId } = record;
  const call = record.calls[index] as ToolCall['calls'][number];
  const [granting, inForce] = judges.map(({ evaluator }) => evaluator) as [Evaluator, Evaluator];
  const requested = approvalRequest(message, index, asking, done, { granting, inForce }, askedAt);
  await new ApprovalClaims(runtime).vouch(requested);
  await keepAttempt(waitForApproval(requested), record.run, runtime);
  await keepDeadline(record, latestEnd(requested, record, askedAt), runtime);
  if (requested.question !== null) await new CallerForms(runtime).extend(runOfRecord(record), requested.expiresAt);
  context.afterCommit(() => {
    const { approvalId, expiresAt } = requested;
    const tool = judges.map(({ evaluator }) => evaluator.byId(call.tool)?.key).find((key) => key !== undefined);
    const until = new Date(expiresAt).toISOString();
    const about = { approval_id: approvalId, request_id: requestId, tool, until };
    if (requested.question !== null) return log.info(about, 'a call waits for an answer of its caller');
    metrics.approvalsRequested.inc({ tool: tool ?? call.tool });
    log.info(about, 'a call waits for an approval');
  });
  return [{ topic: topics.approvals, key: sessionId, record: make.approval({ requested }) }];
}

/** Names the one time that a turn was parked for the approval. */
export function waitForApproval({ approvalId, requestedAt }: ApprovalRequested): string {
  return `${approvalId}/${requestedAt}`;
}

/** Until when the run may last if the call waits as long as it may, milliseconds since the epoch. */
function latestEnd({ expiresAt }: ApprovalRequested, turn: ToolCall, askedAt: number): number {
  return Math.min(expiresAt + Math.max(0, turn.run.deadline - askedAt), wantedBy(turn) ?? Infinity);
}
