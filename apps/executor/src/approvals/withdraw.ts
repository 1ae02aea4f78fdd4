import { make, topics } from '@sluice/contracts';
import type { ApprovalRequested } from '@sluice/contracts';
import type { Outgoing } from '@sluice/bus';
import { ApprovalClaims, needlessMeanwhile, undecidedOf } from '@sluice/run';
import type { ClaimedDecision } from '@sluice/run';
import type { Runtime } from '@sluice/host';
import { executorPrincipal } from './expiry-sweep.js';

/**
 * Ends the approvals that were asked for with this one and have no decision, once their turn went on without them: a
 * call that was refused before, or was not made, needs none. `since` is when the log took the turn.
 */
export async function withdrawRequests(
  requested: ApprovalRequested,
  led: readonly Outgoing[],
  since: number,
  runtime: Runtime,
): Promise<readonly Outgoing[]> {
  const isParked = led.some(({ topic }) => topic === topics.approvals);
  if (isParked || requested.others.length === 0) return [];
  const claims = new ApprovalClaims(runtime);
  const ended: Outgoing[] = [];
  for (const { requested: open, position } of await undecidedOf(requested, since, runtime.bus, claims)) {
    const { approvalId, requestId, sessionId, argumentsHash, bound } = open;
    const { partition, offset } = position;
    const why: ClaimedDecision = {
      ...{ decision: 'expire', decidedBy: executorPrincipal, reason: needlessMeanwhile },
      ...{ partition, offset, bound },
    };
    const { first, taken } = await claims.decide(approvalId, executorPrincipal, why);
    if (!first || taken === null) continue;
    const { decision, decidedBy, reason } = taken;
    const said = { decision, decidedBy, reason, argumentsHash, at: runtime.clock.now() };
    const outcome = make.approvalOutcome({ approvalId, requestId, sessionId, ...said });
    ended.push({ topic: topics.approvals, key: sessionId, record: make.approval({ outcome }) });
  }
  return ended;
}
