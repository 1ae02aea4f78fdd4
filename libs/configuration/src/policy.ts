import { mcpToolType, quote, suggestion, wildcard } from '@sluice/core';
import type { Policy } from '@sluice/core';
import { readAllowedAgents } from './agent-tools.js';
import { readApproval } from './approval.js';
import { readBudgets } from './budgets.js';
import { type IdentifiedTool, toolsByName } from './identities.js';
import { configurationKeys } from './keys.js';
import { describe } from './problems.js';
import type { Section } from './section.js';

/**
 * `policy`: what may run at all; without it nothing. Keys and ids become ids,
 * in configuration order, so that the order in the file makes no new version.
 */
export function readPolicy(section: Section, tools: readonly IdentifiedTool[]): Policy {
  section.closed(configurationKeys.policy);
  const allowedAgents = readAllowedAgents(section, tools);
  return {
    allowedTools: readAllowed(section, tools),
    ...(allowedAgents.length === 0 ? {} : { allowedAgents }),
    ...readApproval(section.section('approval')),
    budgets: readBudgets(section.section('budgets'), tools),
  };
}

function readAllowed(section: Section, tools: readonly IdentifiedTool[]): readonly string[] {
  const byName = toolsByName(tools);
  const allowed = new Set<string>();
  const items = section.items('allowed_tools', 'a list of tool keys or ids') ?? [];
  items.forEach((item, place) => {
    const path = section.itemAt('allowed_tools', place);
    if (item === wildcard) {
      if (items.length > 1) section.problem(path, '`*` among other entries', '`*` alone, or the names of the tools');
      for (const tool of tools) if (tool.entry.type !== mcpToolType) allowed.add(tool.id);
      return;
    }
    const tool = typeof item === 'string' ? byName.get(item) : undefined;
    if (tool !== undefined) allowed.add(tool.id);
    else if (typeof item === 'string')
      section.problem(path, `the unknown tool ${quote(item)}`, suggestion(item, [...byName.keys()]));
    else section.problem(path, describe(item), 'the key or the id of a tool');
  });
  const ids = new Set(tools.map((tool) => tool.id));
  return [...ids].filter((id) => allowed.has(id));
}
