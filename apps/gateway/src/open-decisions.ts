import { decisionsOpenTo } from '@sluice/core';
import type { RequestedApproval, Configuration, Principal } from '@sluice/core';

/** What the caller may decide on a call of its tenant. */
export function decisionsOf(
  { actorId, tenantId }: Principal,
  asked: Pick<RequestedApproval, 'requestedBy' | 'onBehalfOf'>,
  { identity, policy }: Pick<Configuration, 'identity' | 'policy'>,
): readonly string[] {
  // Without an identity a decision may be in any approver’s name.
  const names = identity.provider === 'none' ? policy.approvers : [actorId];
  const open = names.flatMap((name) => decisionsOpenTo({ ...asked, tenantId }, { actorId: name, tenantId }, policy));
  return ['approve', 'refuse'].filter((decision) => open.some((one) => one === decision));
}
