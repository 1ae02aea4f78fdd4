import { readStanding, standingLimits } from '@sluice/configuration';
import { entriesOfDecider, judgeStanding, localPrincipal } from '@sluice/core';
import type { Configuration, Decider, StandingRejection } from '@sluice/core';
import { make, topics } from '@sluice/contracts';
import type { StandingApproval } from '@sluice/contracts';
import { trustedTimeOf } from '@sluice/bus';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { StandingApprovals } from '@sluice/run';
import type { Runtime } from '@sluice/host';

/**
 * Takes what an approver says of calls to come: writes it into the ledger, where calls find it, and says on the log
 * whether it counts. What says already whether it counts is an executor’s own word, or a forger’s, and changes nothing.
 */
export async function takeStanding(
  written: StandingApproval,
  decider: Decider | null,
  message: Incoming<'agent.approvals'>,
  context: HandlerContext,
  runtime: Runtime,
): Promise<readonly Outgoing[]> {
  const { clock, configurations, log, metrics } = runtime;
  const { configuration } = configurations.current();
  const { version } = configuration;
  const tenantId = decider?.tenantId ?? localPrincipal.tenantId;
  const decidedBy = decider?.actorId ?? written.decidedBy;
  const notTaken = await judged(written, decider, tenantId, trustedTimeOf(message), configuration, runtime);
  context.afterCommit(() => {
    const about = { standing_id: written.standingId, action: written.action, decided_by: decidedBy };
    if (notTaken !== null) log.warn({ ...about, reason: notTaken }, 'a standing approval does not count');
    else {
      metrics.standingApprovals.inc({ action: written.action });
      log.info({ ...about, tool: written.tool }, 'a standing approval was taken');
    }
  });
  const standing = { ...written, decidedBy, tenantId, notTaken, at: clock.now(), configVersion: version };
  return [{ topic: topics.approvals, key: message.key, record: make.approval({ standing }) }];
}

async function judged(
  written: StandingApproval,
  decider: Decider | null,
  tenantId: string,
  at: number,
  configuration: Configuration,
  runtime: Runtime,
): Promise<StandingRejection | null> {
  const approvals = new StandingApprovals(runtime);
  const { standingId, action, reason } = written;
  const read = action === 'give' ? readStanding(written, configuration) : null;
  const given = read === null || 'problem' in read ? null : read;
  const refusal = judgeStanding(given, decider, at, configuration);
  const by = decider?.actorId ?? '';
  if (action !== 'revoke') {
    if (refusal !== null || given === null) return refusal ?? 'invalid_standing';
    return approvals.give(tenantId, {
      ...given,
      givenBy: by,
      ...(decider?.subjectId == null ? {} : { givenFor: decider.subjectId }),
      givenAs: decider === null ? [] : entriesOfDecider(decider, configuration.policy),
      reason,
      givenAt: at,
      revoked: null,
    });
  }
  if (refusal !== 'invalid_standing') return refusal ?? 'invalid_standing';
  return approvals.revoke(tenantId, standingId, { by, at, reason: reason.slice(0, standingLimits.reason) });
}
