import { queryOptions } from '@tanstack/react-query';
import type { GroupList, GroupTool, OfferedTool } from '@sluice/client';
import { sluice } from './client.js';

/** The groups that the reader of the page may ask for, with their tools. */
export const groupsQuery = () =>
  queryOptions({
    queryKey: ['groups'],
    queryFn: ({ signal }) => sluice.groups.list({ signal }),
    staleTime: 15_000,
  });

/** The tools of these groups, each once, with those of its groups that may be asked for. */
export function toolsOfGroups({ groups }: GroupList): readonly GroupTool[] {
  const found = new Map<string, GroupTool>();
  for (const { tools } of groups) for (const tool of tools) if (!found.has(tool.key)) found.set(tool.key, tool);
  return [...found.values()].sort((a, b) => a.key.localeCompare(b.key));
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
