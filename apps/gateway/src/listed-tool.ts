import { notPermitted } from '@sluice/core';
import type { ConfiguredTool, Evaluator, Principal } from '@sluice/core';

/** By the key of a tool, those of its groups that the caller may ask for: of others it learns no name. */
export type ShownGroups = (key: string) => readonly string[];

export function shownGroups({ configuration }: Evaluator, { groups: permitted }: Principal): ShownGroups {
  const { tools, groupTree } = configuration;
  const all = [...new Set(tools.flatMap(({ groups }) => groups))];
  const others = new Set(notPermitted(all, permitted, groupTree));
  const shown = new Map(tools.map(({ key, groups }) => [key, groups.filter((group) => !others.has(group))]));
  return (key) => shown.get(key) ?? [];
}

/** A tool with all that a caller may know of it. */
export function listed({ id, key, spec }: ConfiguredTool, shown: ShownGroups): object {
  if (spec === null) return { id, key, groups: shown(key) };
  const { description, effect, inputSchema, schemaHash } = spec;
  const schema = { input_schema: inputSchema, schema_hash: schemaHash };
  return { id, key, description, effect, groups: shown(key), ...schema };
}
