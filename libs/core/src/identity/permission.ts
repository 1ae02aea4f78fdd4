import type { Configuration } from '../settings/types.js';
import { wildcard } from '../rules/defaults.js';
import { type GroupTree, isWithin, noGroupTree } from '../rules/group-tree.js';
import type { Principal } from './principal.js';

/** The decision on a request whose sender is known. A request is refused as a whole, never narrowed. */
export type RequestVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** For the caller. */
      readonly message: string;
      /** Each requested group that is not permitted. */
      readonly refusedGroups: readonly string[];
      /** True for what looks like manipulation rather than a mistake. */
      readonly escalation: boolean;
    };

/** The sentence that a refused caller reads. Upstream systems may match on it, so it stays. */
export const insufficientPermissions = 'Insufficient permissions for requested tool groups';

/**
 * Whether the principal may make this request: it names no other identity, and its groups, after the default, are permitted; `*` needs
 * `*`, and `[]` always passes. Without authentication there is no identity that a request could contradict.
 */
export function mayRequest(
  request: { readonly userId: string | null },
  groups: readonly string[],
  principal: Principal,
  { identity, groupTree }: Pick<Configuration, 'identity' | 'groupTree'>,
): RequestVerdict {
  if (identity.provider !== 'none' && request.userId !== null && !isActor(request.userId, principal)) {
    const message =
      'The request names another user than its credential. Leave user_id out; the credential says who asks.';
    return { ok: false, message, refusedGroups: [], escalation: true };
  }
  const refusedGroups = notPermitted(groups, principal.groups, groupTree);
  if (refusedGroups.length === 0) return { ok: true };
  const escalation = refusedGroups.includes(wildcard);
  return { ok: false, message: insufficientPermissions, refusedGroups, escalation };
}

/** The groups, after the default, that are neither among the permitted ones nor within one of them; a permitted `*` permits all. */
export function notPermitted(
  groups: readonly string[],
  permitted: readonly string[],
  tree: GroupTree = noGroupTree,
): readonly string[] {
  if (permitted.includes(wildcard)) return [];
  return groups.filter((group) => !isWithin(group, permitted, tree));
}

function isActor(userId: string, { actorId }: Principal): boolean {
  return userId === actorId || `user:${userId}` === actorId;
}
