import type { ConfiguredTool } from '../settings/configured-tool.js';
import type { Evaluator } from '../rules/evaluate.js';
import { mayCallAgents } from '../rules/tool-policy.js';
import { undefinedState } from '../rules/defaults.js';

/**
 * Whose tools are documented: the groups of a run, the tools that its request keeps to, and how deep within
 * agents’ calls it is.
 */
interface DocumentedRun {
  readonly groups: readonly string[];
  readonly toolIds: readonly string[] | null;
  /** How many calls of agents the run is within. */
  readonly depth: number;
}

/**
 * The tools that a run may come to use in some state, by policy and groups: rights do not change during a run, as
 * states do.
 */
export function documentedTools(
  evaluator: Pick<Evaluator, 'configuration' | 'policy' | 'rules'>,
  { groups, toolIds, depth }: DocumentedRun,
): readonly ConfiguredTool[] {
  const hidden = new Set(evaluator.rules.decide(groups, undefinedState).filteredByGroup);
  const kept = toolIds === null ? null : new Set(toolIds);
  return evaluator.configuration.tools.filter((tool) => {
    const { key, id, spec, mcp, agent } = tool;
    if (spec === null || hidden.has(key) || evaluator.policy.decide(tool) === 'deny') return false;
    if (agent !== undefined && !mayCallAgents(depth, evaluator.configuration.policy)) return false;
    return kept === null ? mcp?.kind === undefined : kept.has(id);
  });
}
