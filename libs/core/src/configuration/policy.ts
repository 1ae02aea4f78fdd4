import { wildcard } from '../rules/defaults.js';
import { toolEffects } from '../tool/types.js';
import type { ToolEffect } from '../tool/types.js';
import { readBudgets } from './budgets.js';
import { mcpToolType } from './entries.js';
import { type IdentifiedTool, toolsByName } from './identities.js';
import { configurationKeys } from './keys.js';
import { describe, quote } from './problems.js';
import type { Section } from './section.js';
import { suggestion } from './suggest.js';
import type { ConfiguredTool, Policy } from './types.js';

/**
 * `policy`: what may run at all; without it nothing (DESIGN, idea 14; spec/tool-use.md invariant 20). Keys and ids become ids,
 * in configuration order, so that the order in the file makes no new version.
 */
export function readPolicy(section: Section, tools: readonly IdentifiedTool[]): Policy {
  section.closed(configurationKeys.policy);
  return {
    allowedTools: readAllowed(section, tools),
    approvalEffects: readApproval(section.section('approval')),
    budgets: readBudgets(section.section('budgets'), tools),
  };
}

/** Whether a call of the tool needs somebody’s approval (ruling XB-14). A tool nobody has described is taken for the worst. */
export function needsApproval(tool: Pick<ConfiguredTool, 'spec'>, policy: Pick<Policy, 'approvalEffects'>): boolean {
  return policy.approvalEffects.includes(tool.spec?.effect ?? 'external_side_effect');
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

/** In the order of the effects' list, so that the order in the file makes no new version. */
function readApproval(section: Section): readonly ToolEffect[] {
  section.closed(configurationKeys['policy.approval']);
  const names = section.names('effects', 'a list of effects, such as `[state_change, external_side_effect]`') ?? [];
  names.forEach((name, place) => {
    if (toolEffects.some((effect) => effect === name)) return;
    section.problem(
      section.itemAt('effects', place),
      `the unknown effect ${quote(name)}`,
      suggestion(name, toolEffects),
    );
  });
  return toolEffects.filter((effect) => names.includes(effect));
}
