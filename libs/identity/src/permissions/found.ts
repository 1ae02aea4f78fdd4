import type { FoundPermissions } from '@sluice/core';

/** Names of one list, and UTF-16 units of one name: what is found travels in every record of a run. */
const mostNames = 256;
const longestName = 256;

/** What a source says of a caller. Throws an Error that names the member which is wrong. */
export function readFound(given: unknown, whose: string): FoundPermissions {
  const { groups, connections } = Object(given) as Readonly<Record<string, unknown>>;
  return { groups: names(groups, 'groups', whose), connections: names(connections ?? [], 'connections', whose) };
}

function names(value: unknown, member: string, whose: string): readonly string[] {
  const isName = (name: unknown): name is string =>
    typeof name === 'string' && name !== '' && name.length <= longestName && name.isWellFormed();
  if (Array.isArray(value) && value.length <= mostNames && value.every(isName)) return [...new Set(value)];
  throw new Error(`${whose} has no list of at most ${mostNames} names as \`${member}\``);
}
