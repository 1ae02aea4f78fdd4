import { defaultGroup, nearest, quote, sentenceList, wildcard } from '@sluice/core';
import type { ConfiguredTool, Finding, GroupTree, IdentitySettings } from '@sluice/core';

/** Roles whose groups no tool carries: who has the role gets nothing of them, and no request says so. */
export function findAboutRoles(
  identity: IdentitySettings,
  tools: readonly ConfiguredTool[],
  tree: GroupTree,
): readonly Finding[] {
  const roles = identity.provider === 'jwt' ? (identity.permissions?.roles ?? {}) : {};
  const nested = Object.entries(tree).flatMap(([group, below]) => [group, ...below]);
  const known = [...new Set([defaultGroup, wildcard, ...nested, ...tools.flatMap(({ groups }) => groups)])];
  return Object.entries(roles).flatMap(([role, groups]): readonly Finding[] => {
    const unknown = groups.filter((group) => !known.includes(group));
    if (unknown.length === 0) return [];
    const meant = unknown.flatMap((group) => nearest(group, known) ?? []);
    const hint = meant.length === 0 ? '' : ` If ${sentenceList(meant.map(quote))} is meant, write that.`;
    const message = `The role ${quote(role)} names ${sentenceList(unknown.map(quote))}, which no tool carries, so it gives nothing there.${hint}`;
    return [{ kind: 'unknown_group', path: `identity.permissions.roles.${role}`, message }];
  });
}
