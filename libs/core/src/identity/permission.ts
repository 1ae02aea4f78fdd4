import type { Configuration } from '../settings/configuration.js';
import { wildcard } from '../rules/defaults.js';
import { type GroupTree, isWithin, noGroupTree, withGroupsBelow } from '../rules/group-tree.js';
import { quote, sentenceList } from '../quote.js';
import { nearest } from '../suggest.js';
import type { AgentChoice } from '../rules/agent-name.js';
import { agentRefused } from './agent-callers.js';
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
 * Whether the principal may make this request: it names no other identity and an agent that the principal may ask, and
 * its groups, after the default, are permitted; `*` needs `*`, and `[]` always passes. Without authentication there is
 * no identity that a request could contradict.
 */
export function mayRequest(
  request: { readonly userId: string | null } & Partial<AgentChoice>,
  groups: readonly string[],
  principal: Principal,
  { identity, groupTree, agents }: Pick<Configuration, 'identity' | 'groupTree' | 'agents'>,
): RequestVerdict {
  if (identity.provider !== 'none' && request.userId !== null && !isActor(request.userId, principal)) {
    const message =
      'The request names another user than its credential. Leave user_id out; the credential says who asks.';
    return { ok: false, message, refusedGroups: [], escalation: true };
  }
  const { agent = null, call = null } = request;
  const refusedAgent = call === null ? agentRefused({ agent }, principal, { agents, groupTree }) : null;
  if (refusedAgent !== null) return { ok: false, message: refusedAgent, refusedGroups: [], escalation: false };
  const refusedGroups = notPermitted(groups, principal.groups, groupTree);
  if (refusedGroups.length === 0) return { ok: true };
  const escalation = refusedGroups.includes(wildcard);
  return { ok: false, message: insufficientPermissions, refusedGroups, escalation };
}

/**
 * The groups, after the default, that are neither among the permitted ones nor within one of them; a permitted `*`
 * permits all.
 */
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

/** Groups that are named in one sentence, at most. */
const groupsShown = 5;
const longestGroup = 100;

/**
 * The sentence with the refused groups, and of the permitted ones the nearest, else which there are. Only the
 * caller’s own groups are named.
 */
export function refusedGroupsSentence(
  refused: readonly string[],
  permitted: readonly string[],
  tree: GroupTree = noGroupTree,
): string {
  const own = [...new Set(permitted.flatMap((group) => withGroupsBelow(group, tree)))];
  const short = refused.map((group) => (group.length > longestGroup ? `${group.slice(0, longestGroup)}…` : group));
  const near = [...new Set(refused.slice(0, groupsShown).flatMap((group) => nearest(group, own) ?? []))];
  const may =
    near.length > 0
      ? ` You may ask for ${sentenceList(near.map(quote), groupsShown)}.`
      : own.length > 0
        ? ` You may ask for groups such as ${sentenceList(own.map(quote), groupsShown)}.`
        : ' Your credential permits no group.';
  return `${insufficientPermissions}: ${sentenceList(short.map(quote), groupsShown)}.${may}`;
}
