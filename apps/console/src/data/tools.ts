import { queryOptions } from '@tanstack/react-query';
import type { DescribedTool, GroupList, GroupTool, OfferedTool } from '@sluice/client';
import { sluice } from './client.js';

/** The groups that the reader of the page may ask for, with their tools. */
export const groupsQuery = () =>
  queryOptions({
    queryKey: ['groups'],
    queryFn: ({ signal }) => sluice.groups.list({ signal }),
    staleTime: 15_000,
  });

/** The tools of these groups and, for operators, all others that the configuration has; each once. */
export function toolsOfGroups({ groups }: GroupList, described: readonly DescribedTool[] = []): readonly GroupTool[] {
  const found = new Map<string, GroupTool>(described.map((tool) => [tool.key, groupTool(tool)]));
  for (const { tools } of groups) for (const tool of tools) found.set(tool.key, tool);
  return [...found.values()].sort((a, b) => a.key.localeCompare(b.key));
}

function groupTool({ key, id, description, effect, groups, available_in_states, state }: DescribedTool): GroupTool {
  return { key, id, description, effect, groups, available_in_states, state };
}

/** What a tool takes as the configuration in force has it, for operators, also where no run is offered it. */
export const schemaQuery = (key: string) =>
  queryOptions({
    queryKey: ['configurations', 'schema', key],
    queryFn: async ({ signal }): Promise<unknown> => {
      const { document } = await sluice.configurations.get('current', { document: 'true' }, { signal });
      const { tools } = JSON.parse(document ?? '{"tools":[]}') as Configured;
      return tools.find((tool) => tool.key === key)?.spec?.inputSchema ?? null;
    },
    staleTime: 15_000,
  });

/** The part of a compiled configuration that is read here. */
interface Configured {
  readonly tools: readonly { readonly key: string; readonly spec: { readonly inputSchema: unknown } | null }[];
}

/** Calls of the last 30 days by tool. */
export const toolUseQuery = () =>
  queryOptions({
    queryKey: ['usage', 'tool'],
    queryFn: ({ signal }) => sluice.usage.get({ by: 'tool', limit: 200 }, { signal }),
    staleTime: 15_000,
  });

/** A tool as a run would be offered it in a state that it is available in; null where it would not be. */
export const offeredQuery = (tool: Pick<GroupTool, 'key' | 'groups' | 'available_in_states'>, groups: readonly string[]) => {
  const state = tool.available_in_states.find((name) => name !== '*');
  const group = groups.filter((name) => tool.groups.includes(name));
  return queryOptions({
    queryKey: ['tools', 'offered', tool.key, group, state],
    queryFn: async ({ signal }): Promise<OfferedTool | null> => {
      const query = { group, connections: ['*'], ...(state === undefined ? {} : { state }) };
      const { tools } = await sluice.tools.list(query, { signal });
      return tools.find(({ key }) => key === tool.key) ?? null;
    },
    staleTime: 15_000,
  });
};
