import { isServerTool, matchesPattern, quote, suggestion, wildcard } from '@sluice/core';
import type { Lists, Policy } from '@sluice/core';
import { depthRange, readAllowedAgents } from './agent-tools.js';
import { readApproval } from './approval.js';
import { readBudgets } from './budgets.js';
import type { Groups } from './group-map.js';
import { type IdentifiedTool, safe, toolsByName } from './identities.js';
import { configurationKeys } from './keys.js';
import { describe } from './problems.js';
import type { Section } from './section.js';

/**
 * `policy`: what may run at all; without it nothing. Keys and ids become ids,
 * in configuration order, so that the order in the file makes no new version.
 */
export function readPolicy(
  section: Section,
  tools: readonly IdentifiedTool[],
  groups: Groups,
  lists: Lists,
  servers: readonly string[] = [],
  agents: readonly string[] = [],
): Policy {
  section.closed(configurationKeys.policy);
  const allowedAgents = readAllowedAgents(section, tools);
  const agentDepth = section.wholeNumber('agent_depth', depthRange);
  return {
    allowedTools: readAllowed(section, tools, servers),
    ...(allowedAgents.length === 0 ? {} : { allowedAgents }),
    ...(agentDepth === depthRange.byDefault ? {} : { agentDepth }),
    ...readApproval(section.section('approval'), tools, groups, lists, agents),
    budgets: readBudgets(section.section('budgets'), tools),
  };
}

function readAllowed(
  section: Section,
  tools: readonly IdentifiedTool[],
  servers: readonly string[],
): readonly string[] {
  const byName = toolsByName(tools);
  const allowed = new Set<string>();
  const items = section.items('allowed_tools', 'a list of tool keys or ids') ?? [];
  items.forEach((item, place) => {
    const path = section.itemAt('allowed_tools', place);
    if (typeof item !== 'string') return section.problem(path, describe(item), 'the key or the id of a tool');
    if (item === wildcard) {
      for (const tool of tools) if (!isServerTool(tool.entry.type)) allowed.add(tool.id);
      return;
    }
    const exact = byName.get(item);
    const isPattern = exact === undefined && item.includes(wildcard);
    const meant = isPattern ? [...byName].flatMap(([name, tool]) => (matchesPattern(item, name) ? [tool] : [])) : exact;
    const found = meant === undefined ? [] : [meant].flat();
    for (const tool of found) allowed.add(tool.id);
    if (
      found.length > 0 ||
      (isPattern &&
        servers.some((server) => /^(?:mcp|api)__/.test(item) && item.slice(5).startsWith(`${safe(server)}__`)))
    )
      return;
    if (isPattern) section.problem(path, `the pattern ${quote(item)}, which no tool has`, 'a pattern of keys or ids');
    else section.unknown(path, 'tool', item, suggestion(item, [...byName.keys()]));
  });
  const ids = new Set(tools.map((tool) => tool.id));
  return [...ids].filter((id) => allowed.has(id));
}
