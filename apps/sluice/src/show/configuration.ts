import { findUnasked, printable } from '@sluice/core';
import type { Configuration } from '@sluice/core';

/** Groups that one line names; beyond them their number stands. */
const shownGroups = 12;

/** What a configuration offers, in one line: how many tools, and the groups to ask for. */
export function aboutConfiguration({ tools, policy }: Pick<Configuration, 'tools' | 'policy'>): string {
  const names = new Set(policy.allowedTools);
  const allowed = tools.filter(({ id }) => names.has(id));
  const count = tools.length === 1 ? '1 tool' : `${tools.length} tools`;
  const some = allowed.length === tools.length ? 'all allowed' : `${allowed.length} allowed`;
  return `${count} (${some}), ${groupsInWords([...new Set(allowed.flatMap(({ groups }) => groups))].toSorted())}`;
}

/** What an operator must know before the first request: which tools change things without an approval. Empty, or lines. */
export function aboutApproval({ tools, policy }: Pick<Configuration, 'tools' | 'policy'>): string {
  return findUnasked(tools, policy)
    .map(({ message }) => `! ${printable(message)}\n`)
    .join('');
}

function groupsInWords(groups: readonly string[]): string {
  if (groups.length === 0) return 'no groups';
  const shown = groups.slice(0, shownGroups).map((group) => printable(group));
  const more = groups.length > shownGroups ? ` and ${groups.length - shownGroups} more` : '';
  return `${groups.length === 1 ? 'group' : 'groups'} ${shown.join(', ')}${more}`;
}
