import { allApprovers, decisionsOpenTo, isAnyApprover } from '@sluice/core';
import type { Configuration, Decider, GivenApproval, RequestedApproval } from '@sluice/core';
import type { Caller } from './caller.js';

type AskedCall = Pick<RequestedApproval, 'requestedBy' | 'onBehalfOf' | 'requestedAt' | 'rules'>;
type Deciding = Pick<Configuration, 'identity' | 'policy'>;

/** What the caller may decide on a call of its tenant at this time, after the approvals that were given. */
export function decisionsOf(
  caller: Pick<Caller, 'decider' | 'principal'>,
  asked: AskedCall,
  { identity, policy }: Deciding,
  now: number,
  given: readonly GivenApproval[] = [],
): readonly string[] {
  const { tenantId } = caller.principal;
  const open = decidersOf(caller, { identity, policy }).flatMap((decider) =>
    decisionsOpenTo({ ...asked, tenantId }, decider, policy, now, given),
  );
  return ['approve', 'refuse'].filter((decision) => open.some((one) => one === decision));
}

/** Whether there can be a call that the caller may decide on. */
export function mayDecide(caller: Pick<Caller, 'decider' | 'principal'>, configuration: Deciding): boolean {
  return decidersOf(caller, configuration).some((decider) => isAnyApprover(decider, configuration.policy));
}

/** Without an identity a decision may be in any approver’s name. */
function decidersOf(
  { decider, principal: { tenantId } }: Pick<Caller, 'decider' | 'principal'>,
  { identity, policy }: Deciding,
): readonly Decider[] {
  if (identity.provider !== 'none') return [decider];
  return allApprovers(policy).map((actorId) => ({ actorId, tenantId }));
}
