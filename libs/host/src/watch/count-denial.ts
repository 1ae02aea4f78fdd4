import { logNames } from '@sluice/core';
import type { Principal, RequestVerdict } from '@sluice/core';
import { boundedLabel } from '@sluice/run';
import type { Loaded } from '@sluice/run';
import { BoundedNames } from '../bounded-names.js';
import type { Runtime } from '../runtime.js';

/** Who is counted by name. */
const asking = new BoundedNames(100);

/**
 * Counts and logs a request that its sender may not make, in the service that refuses it; `requestId` is null for a
 * listing.
 */
export function countDenial(
  requestId: string | null,
  { actorId, tenantId }: Principal,
  { refusedGroups, escalation, message }: RequestVerdict & { ok: false },
  { evaluator }: Loaded,
  { metrics, log }: Pick<Runtime, 'metrics' | 'log'>,
): void {
  for (const group of refusedGroups)
    metrics.groupAccessDenied.inc({ group: boundedLabel(group, evaluator.rules.knownGroups) });
  if (escalation) metrics.escalationAttempts.inc();
  const who = asking.of({ tenant: tenantId, actor: actorId });
  metrics.refusedRequests.inc({ ...who, reason: escalation ? 'escalation' : 'groups' });
  const about = requestId === null ? { listing: true } : { request_id: requestId };
  const refused = { refused_groups: logNames(refusedGroups), escalation };
  log.warn({ ...about, actor: actorId, tenant: tenantId, ...refused }, message);
}
