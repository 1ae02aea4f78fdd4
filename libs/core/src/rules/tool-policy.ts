import { approvable, needsApproval } from '../approval/needs-approval.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import type { IdentitySettings } from '../settings/identity-types.js';
import type { Policy } from '../settings/policy-types.js';

/** What a policy says of the calls of a tool. */
export type ToolPolicyDecision = 'allow' | 'deny' | 'require_approval';

/** A policy made ready for decisions: the one place that says what the data in it mean. */
export interface ToolPolicy {
  /**
   * Denied is what the policy does not name, and what needs an approval that no one can give. What is used up
   * in a run is not decided here: see budgetUsed. A tool without a specification counts as the worst.
   */
  decide(tool: Pick<ConfiguredTool, 'id' | 'spec' | 'agent' | 'plan'>): ToolPolicyDecision;
}

/** Whether a run that is within so many calls of agents may call one itself. */
export function mayCallAgents(depth: number, { agentDepth = 1 }: Pick<Policy, 'agentDepth'>): boolean {
  return depth < agentDepth;
}

/** Whether the tool is no agent, or one of the agents that may be called (K-63). */
export function isListed(
  { id, agent }: Pick<ConfiguredTool, 'id' | 'agent'>,
  policy: Pick<Policy, 'allowedAgents'>,
): boolean {
  return agent === undefined || (policy.allowedAgents?.includes(id) ?? false);
}

export function compilePolicy(policy: Policy, { provider }: Pick<IdentitySettings, 'provider'>): ToolPolicy {
  const allowed = new Set(policy.allowedTools);
  return {
    decide(tool) {
      if (!allowed.has(tool.id) || !isListed(tool, policy) || !approvable(tool, policy, provider)) return 'deny';
      return needsApproval(tool, policy) ? 'require_approval' : 'allow';
    },
  };
}
