import { toolEffects } from '../tool/types.js';
import type { ToolEffect } from '../tool/types.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import type { Policy } from '../settings/policy-types.js';

/** The effects that need an approval where there are approvers and nothing else is written. */
export const changingEffects: readonly ToolEffect[] = toolEffects.filter((effect) => effect !== 'read_only');

/** What asks for an approval, as a rule of the configuration and in a sentence. */
export interface ApprovalRule {
  readonly rule: 'effect' | 'plan';
  readonly message: string;
}

/** Whether a call of the tool needs an approval. A tool without a specification counts as the worst. */
export function needsApproval(
  tool: Pick<ConfiguredTool, 'spec' | 'plan'>,
  policy: Pick<Policy, 'approvalEffects'>,
): boolean {
  return approvalRule(tool, policy) !== null;
}

/** What asks for an approval of the tool’s calls; null if nothing does. */
export function approvalRule(
  tool: Pick<ConfiguredTool, 'spec' | 'plan'>,
  { approvalEffects }: Pick<Policy, 'approvalEffects'>,
): ApprovalRule | null {
  if (tool.plan?.approve === true)
    return { rule: 'plan', message: 'The run’s strategy has plans approved before their calls are made.' };
  const effect = tool.spec?.effect ?? 'external_side_effect';
  if (!approvalEffects.includes(effect)) return null;
  return { rule: 'effect', message: `policy.approval asks for an approval of calls with the effect ${effect}.` };
}

/**
 * Whether calls of the tool can change something and run without an approval, though the file does not say that this
 * is meant.
 */
export function runsWithoutApproval(
  tool: Pick<ConfiguredTool, 'spec'>,
  policy: Pick<Policy, 'approvalEffects' | 'approvalWaived'>,
): boolean {
  if (policy.approvalEffects.length > 0 || policy.approvalWaived !== undefined || tool.spec === null) return false;
  return changingEffects.includes(tool.spec.effect);
}

/** Whether the tool can be called at all: one that needs an approval is denied while there are no approvers. */
export function approvable(
  tool: Pick<ConfiguredTool, 'spec' | 'plan'>,
  policy: Pick<Policy, 'approvalEffects' | 'approvers'>,
): boolean {
  return policy.approvers.length > 0 || !needsApproval(tool, policy);
}
