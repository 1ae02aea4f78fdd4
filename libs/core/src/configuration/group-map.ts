import { defaultGroup, wildcard } from '../rules/defaults.js';
import type { ToolEntry } from './entries.js';
import { describe, quote } from './problems.js';
import type { Section } from './section.js';
import { suggestion } from './suggest.js';

/**
 * `group`: from group name to tool keys. Returns the tags of every tool: its own in their order, then
 * the map's. Only a tool that neither of the two tags is in `default`: no tool is reachable through a tag that
 * other tags replaced.
 */
export function readGroups(section: Section, entries: readonly ToolEntry[]): ReadonlyMap<string, readonly string[]> {
  const added = new Map<string, string[]>(entries.map((entry) => [entry.key, []]));
  const keys = [...added.keys()];
  for (const group of section.keys()) {
    if (group === '' || group === wildcard) {
      section.problem(
        section.at(group),
        `the group name ${quote(group)}`,
        'a name of your own; `*` stands for all groups in requests only',
      );
    }
    const tools = section.items(group, 'a list of tool keys') ?? [];
    tools.forEach((tool, place) => {
      const tags = typeof tool === 'string' ? added.get(tool) : undefined;
      if (tags !== undefined) {
        tags.push(group);
        return;
      }
      const found =
        typeof tool === 'string' ? `the unknown tool ${quote(tool)} in the group ${quote(group)}` : describe(tool);
      section.problem(
        section.itemAt(group, place),
        found,
        typeof tool === 'string' ? suggestion(tool, keys) : 'the key of a tool',
      );
    });
  }
  return new Map(entries.map((entry) => [entry.key, tagsOf(entry, added.get(entry.key) ?? [])]));
}

function tagsOf(entry: ToolEntry, added: readonly string[]): readonly string[] {
  if (entry.groups === null && added.length === 0) return [defaultGroup];
  return [...new Set([...(entry.groups ?? []), ...added])];
}
