import type { AgentRequest } from '@sluice/contracts';
import type { RequestVerdict, Principal } from '@sluice/core';
import type { HandlerContext } from '@sluice/bus';
import { boundedLabel, BoundedNames } from '@sluice/service';
import type { Loaded, Runtime } from '@sluice/service';

/** Who is counted by name. */
const asking = new BoundedNames(100);

/** Of a log line, at most. */
const namesShown = 20;

/** Counts and logs a request that its sender may not make. */
export function reportRefusal(
  request: Pick<AgentRequest, 'requestId'>,
  principal: Principal,
  refused: RequestVerdict & { ok: false },
  { evaluator }: Loaded,
  context: HandlerContext,
  { metrics, log }: Runtime,
): void {
  context.afterCommit(() => {
    const { refusedGroups, escalation, message } = refused;
    for (const group of refusedGroups)
      metrics.groupAccessDenied.inc({ group: boundedLabel(group, evaluator.rules.knownGroups) });
    if (escalation) metrics.escalationAttempts.inc();
    const { actorId, tenantId } = principal;
    const who = asking.of({ tenant: tenantId, actor: actorId });
    metrics.refusedRequests.inc({ ...who, reason: escalation ? 'escalation' : 'groups' });
    const shown = refusedGroups.slice(0, namesShown);
    log.warn(
      { request_id: request.requestId, actor: actorId, tenant: tenantId, refused_groups: shown, escalation },
      message,
    );
  });
}
