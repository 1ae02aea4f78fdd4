import { defaultGroup, pathOf, quote, suggestion, wildcard } from '@sluice/core';
import type { GroupTree } from '@sluice/core';
import type { ToolEntry } from './entries.js';
import { describe } from './problems.js';
import type { Section } from './section.js';

/** Groups nested deeper are refused: so is a YAML alias that contains itself. */
const deepest = 8;

/** More groups within groups than this are refused: YAML aliases make many of a few lines. */
const mostNested = 1_000;

export interface Groups {
  /** The tags of every tool, by its key. */
  readonly tags: ReadonlyMap<string, readonly string[]>;
  /** Groups that patterns bring tools into, whether or not any is known. */
  readonly open: readonly string[];
  /** Empty where no group is within another. */
  readonly tree: GroupTree;
}

/** Every group that a request can ask for and that may have tools. */
export function knownGroups({ tags, open, tree }: Groups): readonly string[] {
  const nested = Object.entries(tree).flatMap(([group, below]) => [group, ...below]);
  return [...new Set([...[...tags.values()].flat(), ...open, ...nested])];
}

/**
 * `group`: from group name to tool keys, or to a map of the groups within it. The tags of a tool are its own in their
 * order, then the map's. Only a tool that neither of the two tags is in `default`: no tool is reachable through a tag
 * that other tags replaced.
 */
export function readGroups(section: Section, entries: readonly ToolEntry[], open: readonly string[] = []): Groups {
  const added = new Map<string, string[]>(entries.map((entry) => [entry.key, []]));
  const keys = [...added.keys()];
  const tree = new Map<string, readonly string[]>();
  const paths = new Map<string, string>();
  let nested = 0;

  function readMap(map: Section, parent: string | null, depth: number): void {
    const children: string[] = [];
    for (const name of map.keys()) {
      const path = pathOf(parent, name);
      if (parent !== null && ++nested > mostNested) {
        const found = `more than ${String(mostNested)} groups within groups`;
        if (nested === mostNested + 1) map.problem(map.at(name), found, 'fewer of them');
        return;
      }
      if (!isName(map, name, parent) || !isNew(map, name, path)) continue;
      children.push(path);
      const value = map.value(name);
      if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
        if (depth < deepest) readMap(map.section(name), path, depth + 1);
        else map.problem(map.at(name), `groups nested more than ${String(deepest)} deep`, 'a list of tool keys');
      } else readTools(map, name, path);
    }
    if (parent !== null) tree.set(parent, children);
  }

  function isName(map: Section, name: string, parent: string | null): boolean {
    if (name === '' || name === wildcard) {
      const write = 'a name of your own; `*` stands for all groups in requests only';
      map.problem(map.at(name), `the group name ${quote(name)}`, write);
      return false;
    }
    if (parent !== null && name.includes('/')) {
      const write = 'a name without `/`, which stands between a group and the group within it';
      map.problem(map.at(name), `the group name ${quote(name)} within ${quote(parent)}`, write);
      return false;
    }
    return true;
  }

  /** One path is one group: `knowledge/read` is not also the group `read` within `knowledge`. */
  function isNew(map: Section, name: string, path: string): boolean {
    const first = paths.get(path);
    if (first === undefined) {
      paths.set(path, map.at(name));
      return true;
    }
    map.problem(map.at(name), `the group ${quote(path)}, which ${first} is already`, 'one of the two');
    return false;
  }

  function readTools(map: Section, name: string, path: string): void {
    const tools = map.items(name, 'a list of tool keys, or a map of groups within it') ?? [];
    tools.forEach((tool, place) => {
      const tags = typeof tool === 'string' ? added.get(tool) : undefined;
      if (tags !== undefined) {
        tags.push(path);
        return;
      }
      const at = map.itemAt(name, place);
      if (typeof tool !== 'string') map.problem(at, describe(tool), 'the key of a tool');
      else map.unknown(at, 'tool', tool, suggestion(tool, keys), ` in the group ${quote(path)}`);
    });
  }

  readMap(section, null, 1);
  return {
    tags: new Map(entries.map((entry) => [entry.key, tagsOf(entry, added.get(entry.key) ?? [])])),
    open,
    tree: Object.fromEntries(tree),
  };
}

function tagsOf(entry: ToolEntry, added: readonly string[]): readonly string[] {
  if (entry.groups === null && added.length === 0) return [defaultGroup];
  return [...new Set([...(entry.groups ?? []), ...added])];
}
