import type { Evaluator, Step } from '@sluice/core';
import { make, maxPayloadBytes, payloadBytes, topics } from '@sluice/contracts';
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
import type { Asking, CallAhead, Loaded } from '@sluice/run';
import type { Runtime } from '@sluice/host';
import { toolLabel } from '../step-metrics.js';

/** The call that a turn waits at, and what is asked with it. */
interface ParkedAt {
  readonly index: number;
  readonly asking: Asking;
  readonly askedAt: number;
  /** Calls behind it that need an approval as well. */
  readonly ahead: readonly CallAhead[];
  /** Approvals that were asked for in this turn before. */
  readonly before: readonly string[];
}

/**
 * Parks a turn before the call at `index`: the ToolCall stays where it is on the log, and what goes out in place of a
 * result says where that is, what is asked, and which calls are done. The calls behind it that need an approval are
 * asked about with it. The time that it waits does not count towards the run’s deadline: the ledger keeps until when
 * the run may last, for the filter, which watches deadlines.
 */
export async function park(
  message: Incoming<'agent.tool-calls'>,
  { index, asking, askedAt, ahead, before }: ParkedAt,
  done: readonly Step[],
  judges: readonly Loaded[],
  context: HandlerContext,
  runtime: Runtime,
): Promise<readonly Outgoing[]> {
  const { record } = message;
  const [granting, inForce] = judges.map(({ evaluator }) => evaluator) as [Evaluator, Evaluator];
  const judging = { granting, inForce };
  const alone = approvalRequest(message, index, asking, done, judging, askedAt);
  const isNew = (id: string): boolean => id !== asking.approvalId && !before.includes(id);
  // Each has the steps that are done: what finds no room in one go is asked when the turn comes to it.
  const most = Math.floor(maxPayloadBytes / payloadBytes(topics.approvals, make.approval({ requested: alone })));
  const also = ahead.filter((one) => isNew(one.asking.approvalId)).slice(0, most);
  const ids = [...new Set([...before, asking.approvalId, ...also.map((one) => one.asking.approvalId)])].sort();
  const asks = [{ index, asking }, ...also].map((one) => {
    const { approvalId } = one.asking;
    const others = ids.filter((id) => id !== approvalId);
    const behind = approvalId === asking.approvalId ? null : asking.approvalId;
    return approvalRequest(message, one.index, one.asking, done, judging, askedAt, { others, behind });
  });
  const [requested, ...more] = asks as [ApprovalRequested, ...ApprovalRequested[]];
  const claims = new ApprovalClaims(runtime);
  for (const one of asks) await claims.vouch(one);
  await keepAttempt(waitForApproval(requested), record.run, runtime);
  await keepDeadline(record, latestEnd(requested, record, askedAt), runtime);
  if (requested.question !== null) await new CallerForms(runtime).extend(runOfRecord(record), requested.expiresAt);
  context.afterCommit(() => {
    if (!before.includes(requested.approvalId)) sayAsked(requested, judges, runtime);
    for (const one of more) sayAsked(one, judges, runtime);
  });
  return asks.map((one) => {
    return { topic: topics.approvals, key: record.sessionId, record: make.approval({ requested: one }) };
  });
}

function sayAsked(
  { approvalId, requestId, tool: id, expiresAt, question }: ApprovalRequested,
  judges: readonly Loaded[],
  { log, metrics }: Runtime,
): void {
  const known = judges.map(({ evaluator }) => evaluator.byId(id)).find((one) => one !== undefined);
  const tool = known?.key;
  const about = { approval_id: approvalId, request_id: requestId, tool, until: new Date(expiresAt).toISOString() };
  if (question !== null) return log.info(about, 'a call waits for an answer of its caller');
  metrics.approvalsRequested.inc({ tool: known === undefined ? id : toolLabel(known) });
  log.info(about, 'a call waits for an approval');
}

/** Names the one time that a turn was parked for the approval. */
export function waitForApproval({ approvalId, requestedAt }: ApprovalRequested): string {
  return `${approvalId}/${requestedAt}`;
}

/** Until when the run may last if the call waits as long as it may, milliseconds since the epoch. */
function latestEnd({ expiresAt }: ApprovalRequested, turn: ToolCall, askedAt: number): number {
  return Math.min(expiresAt + Math.max(0, turn.run.deadline - askedAt), wantedBy(turn) ?? Infinity);
}
