import { toolIndexCount } from '@sluice/core';
import type { Toolset } from '@sluice/records';

/** Which tools a turn was offered, in a line; `nameOf` writes the key of one. */
export function offeredWords(
  { list, tools, iteration }: Pick<Toolset, 'list' | 'tools' | 'iteration'>,
  nameOf = (key: string): string => key,
): string {
  if (tools.length > 0) return tools.map(({ key }) => nameOf(key)).join(', ');
  const count = list === null ? 0 : toolIndexCount(list.indexes);
  if (count === 0 || list === null) return 'no tools';
  return list.since < iteration ? `the same as in iteration ${list.since} (${count})` : `${count} tools`;
}
