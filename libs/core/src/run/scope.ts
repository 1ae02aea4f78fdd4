import { localPrincipal } from '../identity/principal.js';
import type { Principal } from '../identity/principal.js';

/**
 * Callers choose the ids of requests and sessions, so two tenants may choose the same one. These names keep them
 * apart wherever a run or a session is looked up by name: claims in the ledger, lanes of a consumer, what is gathered
 * from the log. They are names inside; records keep the ids that the caller gave.
 */

/** The tenant of a run; null where no credential was verified. */
export type Tenant = string | null;

/**
 * Names a run of a tenant, and no other run. Without an identity in the configuration there is one tenant, whose runs
 * are named by their request_id alone.
 */
export function runName(requestId: string, tenant: Tenant): string {
  return tenant === localPrincipal.tenantId ? plain(requestId) : scoped([tenant, requestId]);
}

/** Names a session of a user of a tenant: of the one on whose behalf the caller acts, if it does so. */
export function sessionName(
  sessionId: string,
  principal: Pick<Principal, 'tenantId' | 'actorId' | 'subjectId'> | null,
): string {
  if (principal === null) return plain(sessionId);
  const { tenantId } = principal;
  const user = userOf(principal);
  const isLocal = tenantId === localPrincipal.tenantId && user === localPrincipal.actorId;
  return isLocal ? plain(sessionId) : scoped([tenantId, user, sessionId]);
}

/** The user whose runs and sessions they are. */
export function userOf({ actorId, subjectId }: Pick<Principal, 'actorId' | 'subjectId'>): string {
  return subjectId ?? actorId;
}

function scoped(parts: readonly (string | null)[]): string {
  return `@${JSON.stringify(parts)}`;
}

/** An id as it is. One that looks like a scoped name gets one more `@`, so that no id is another one’s name. */
function plain(id: string): string {
  return /^@+\[/.test(id) ? `@${id}` : id;
}
