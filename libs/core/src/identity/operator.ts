import type { IdentitySettings } from '../settings/identity-types.js';
import type { Principal } from './principal.js';

/**
 * Whether the caller may use the operators’ routes. Without an identity there is one local principal, who may. A
 * caller that acts for a subject may not.
 */
export function isOperator({ actorId, tenantId, subjectId }: Principal, identity: IdentitySettings): boolean {
  if (identity.provider === 'none') return true;
  if (subjectId !== null) return false;
  return (identity.operators ?? []).some(
    ({ principals, tenants }) => principals.includes(actorId) && tenants.includes(tenantId),
  );
}
