import { defaultGroup, quote, suggestion, wildcard } from '@sluice/core';
import type { GroupFallbacks } from '@sluice/core';
import type { Groups } from './group-map.js';
import type { Section } from './section.js';

/** `group_fallbacks`: which groups stand in for one that has no available tool. */
export function readFallbacks(section: Section, { tags, tree, open }: Groups): GroupFallbacks {
  const known = new Set([...Object.keys(tree), ...[...tags.values()].flat(), ...open, defaultGroup]);
  const isKnown = (name: string, path: string): boolean => {
    if (known.has(name)) return true;
    const write = suggestion(name, [...known]);
    if (name === wildcard) section.problem(path, 'the wildcard `*`', write);
    else section.unknown(path, 'group', name, write);
    return false;
  };
  const fallbacks = section.keys().map((group) => {
    isKnown(group, section.at(group));
    const names = section.names(group, 'a list of group names') ?? [];
    const usable = names.filter((name, place) => {
      const path = section.itemAt(group, place);
      if (name !== group) return isKnown(name, path);
      section.problem(path, `the group ${quote(group)} itself`, 'another group');
      return false;
    });
    return [group, usable] as const;
  });
  return Object.fromEntries(fallbacks);
}
