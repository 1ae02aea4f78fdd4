import type { ConfiguredTool } from '../settings/configured-tool.js';
import type { Evaluator } from '../rules/evaluate.js';
import { undefinedState } from '../rules/defaults.js';

/**
 * Whose tools are documented: the groups of a run, the tools that its request keeps to, and whether it answers a call
 * itself.
 */
interface DocumentedRun {
  readonly groups: readonly string[];
  readonly toolIds: readonly string[] | null;
  readonly nested: boolean;
}

/**
 * The tools that a run may come to use in some state, by policy and groups: rights do not change during a run, as
 * states do.
 */
export function documentedTools(
  evaluator: Pick<Evaluator, 'configuration' | 'policy' | 'rules'>,
  { groups, toolIds, nested }: DocumentedRun,
): readonly ConfiguredTool[] {
  const hidden = new Set(evaluator.rules.decide(groups, undefinedState).filteredByGroup);
  const kept = toolIds === null ? null : new Set(toolIds);
  return evaluator.configuration.tools.filter((tool) => {
    const { key, id, spec, mcp, agent } = tool;
    if (spec === null || hidden.has(key) || evaluator.policy.decide(tool) === 'deny') return false;
    if (agent !== undefined && nested) return false;
    return kept === null ? mcp?.kind === undefined : kept.has(id);
  });
}
