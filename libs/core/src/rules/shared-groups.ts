import { wildcard } from './defaults.js';
import { type GroupTree, isWithin, noGroupTree } from './group-tree.js';

/** What both lists of groups permit, in the order of the first: groups that are within one of the other. */
export function sharedGroups(
  groups: readonly string[],
  others: readonly string[],
  tree: GroupTree = noGroupTree,
): readonly string[] {
  if (others.includes(wildcard)) return groups;
  if (groups.includes(wildcard)) return others;
  const within = groups.filter((group) => isWithin(group, others, tree));
  const below = others.filter((group) => isWithin(group, groups, tree));
  return [...new Set([...within, ...below])];
}

/**
 * The groups of a request to an agent that has groups of its own: those it asks for, as far as they are the agent’s;
 * of a request that names none, the agent’s, as far as its caller may ask for them. Null stays null for an agent
 * without groups.
 */
export function groupsForAgent(
  asked: readonly string[] | null,
  own: readonly string[] | undefined,
  permitted: readonly string[],
  tree: GroupTree | undefined,
): readonly string[] | null {
  if (own === undefined) return asked;
  return sharedGroups(asked ?? own, asked === null ? permitted : own, tree);
}
