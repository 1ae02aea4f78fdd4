import { findWithoutApproval } from '@sluice/configuration';
import { printable } from '@sluice/core';
import type { Configuration, ConfiguredTool } from '@sluice/core';

/** Groups that one line names; beyond them their number stands. */
const shownGroups = 12;

/** What a configuration offers, in one line: how many tools, and the groups to ask for. */
export function aboutConfiguration({ tools, policy }: Pick<Configuration, 'tools' | 'policy'>): string {
  const allowed = allowedOf({ tools, policy });
  const count = tools.length === 1 ? '1 tool' : `${tools.length} tools`;
  const some = allowed.length === tools.length ? 'all allowed' : `${allowed.length} allowed`;
  return `${count} (${some}), ${groupsInWords([...new Set(allowed.flatMap(({ groups }) => groups))].toSorted())}`;
}

/** The same for who checks a file: also how many of the allowed tools can be offered, where it is not all of them. */
export function aboutTools(configuration: Pick<Configuration, 'tools' | 'policy'>): string {
  const allowed = allowedOf(configuration);
  const offered = allowed.filter(isThere).length;
  const some = offered === allowed.length ? '' : `, ${offered} of ${allowed.length} offered`;
  return `${configuration.tools.length} tools, ${allowed.length} allowed${some}`;
}

/** Whether every allowed tool is there to be offered: a server that is away takes its tools with it. */
export function allOffered(configuration: Pick<Configuration, 'tools' | 'policy'>): boolean {
  return allowedOf(configuration).every(isThere);
}

function allowedOf({ tools, policy }: Pick<Configuration, 'tools' | 'policy'>): readonly ConfiguredTool[] {
  const names = new Set(policy.allowedTools);
  return tools.filter(({ id }) => names.has(id));
}

function isThere({ unavailable }: ConfiguredTool): boolean {
  return unavailable === null;
}

/**
 * What an operator must know before the first request: which tools change things without an approval. Empty, or
 * lines.
 */
export function aboutApproval({ tools, policy }: Pick<Configuration, 'tools' | 'policy'>): string {
  return findWithoutApproval(tools, policy)
    .map(({ message }) => `! ${printable(message)}\n`)
    .join('');
}

function groupsInWords(groups: readonly string[]): string {
  if (groups.length === 0) return 'no groups';
  const shown = groups.slice(0, shownGroups).map((group) => printable(group));
  const more = groups.length > shownGroups ? ` and ${groups.length - shownGroups} more` : '';
  return `${groups.length === 1 ? 'group' : 'groups'} ${shown.join(', ')}${more}`;
}
