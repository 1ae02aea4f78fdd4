import type { ConnectionSettings } from '../settings/connection-types.js';
import { wildcard } from './defaults.js';

type Names = readonly string[] | null;

/** A connection's id wherever one is written: in the configuration, in a request, in a claim. */
export const connectionIdForm = /^[A-Za-z0-9_-]{1,64}$/;

/** What grant and request both allow; `*` is every connection, and a side that is missing allows none. */
export function effectiveConnections(grant: Names, request: Names): readonly string[] {
  if (grant === null || request === null) return [];
  if (grant.includes(wildcard)) return [...new Set(request)];
  return [...new Set(request.includes(wildcard) ? grant : request.filter((id) => grant.includes(id)))];
}

/**
 * The configured connections that a request may use: those that are effective and open to the tenant, in
 * configuration order.
 */
export function allowedConnections(
  configured: readonly ConnectionSettings[] | undefined,
  principal: { readonly tenantId: string; readonly connections: readonly string[] } | null,
  requested: Names,
): readonly string[] {
  if (configured === undefined || principal === null) return [];
  const effective = effectiveConnections(principal.connections, requested);
  return configured
    .filter(({ id, tenants }) => holds(effective, id) && holds(tenants, principal.tenantId))
    .map(({ id }) => id);
}

function holds(names: readonly string[], name: string): boolean {
  return names.includes(wildcard) || names.includes(name);
}
