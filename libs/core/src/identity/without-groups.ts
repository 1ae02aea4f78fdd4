import { type JsonObject, isJsonObject } from '../json.js';
import { wildcard } from '../rules/defaults.js';
import type { IdentitySettings } from '../settings/identity-types.js';
import { claimAt } from './claims.js';
import type { Principal } from './principal.js';

/** Why a credential that holds gives its caller none of the configuration’s groups. */
export const noGroupsReasons = {
  absent: 'its claim is not in the credential',
  overage: 'the issuer left the groups out, since they are too many (overage), and says only where they are',
  empty: 'its claim names none',
  unknown: 'no tool carries the groups that it names; they may be written in another form',
  unmapped: 'identity.permissions.roles maps none of the roles that it names',
  not_listed: 'the source of permissions (users, lookup) knows none for this caller',
} as const satisfies Record<string, string>;

type NoGroups = keyof typeof noGroupsReasons;

/** Null where one of the groups is one that tools carry, or `*`, and without an identity of people. */
export function whyNoGroups(
  { groups }: Pick<Principal, 'groups'>,
  claims: JsonObject | undefined,
  identity: IdentitySettings,
  knownGroups: ReadonlySet<string>,
): NoGroups | null {
  if (identity.provider !== 'jwt' || claims === undefined) return null;
  if (groups.some((group) => group === wildcard || knownGroups.has(group))) return null;
  if (groups.length > 0) return 'unknown';
  if (identity.permissions?.source !== undefined) return 'not_listed';
  const { groups: name } = identity.claims;
  const written = claimAt(claims, name);
  if (written === undefined) return isLeftOut(claims, name) ? 'overage' : 'absent';
  const isEmpty = written === null || written === '' || (Array.isArray(written) && written.length === 0);
  return isEmpty || identity.permissions?.roles === undefined ? 'empty' : 'unmapped';
}

/** Entra names the claim in `_claim_names` or sets `hasgroups` where a user has more groups than a token may hold. */
function isLeftOut(claims: JsonObject, name: string): boolean {
  const names = claims['_claim_names'];
  return claims['hasgroups'] === true || (isJsonObject(names) && Object.hasOwn(names, name));
}
