import { redactArguments } from '@sluice/core';
import type { BoundTool, JsonValue, ToolInvocation, Verdict } from '@sluice/core';
import { approvalIdOf, approvalVerdict, isApprovalNeeded } from '@sluice/decisions';
import type { Asking } from '@sluice/decisions';
import type { ApprovalClaims, Loaded } from '@sluice/service';

/**
 * What became of the call’s approval, which it needs if either configuration says so: the one in force may only deny (DESIGN, idea 7).
 * `asking` is what is to be asked where nobody has decided, else null.
 */
export async function judgeApproval(
  tool: BoundTool,
  invocation: ToolInvocation,
  args: JsonValue,
  judges: readonly Loaded[],
  claims: ApprovalClaims,
): Promise<{ readonly verdict: Verdict; readonly asking: Asking | null }> {
  const needed = isApprovalNeeded(
    tool,
    judges.map(({ evaluator }) => evaluator),
  );
  if (!needed) return { verdict: { ok: true }, asking: null };
  const approvalId = approvalIdOf(invocation.callKey);
  const taken = (await claims.decisionOn(approvalId)) ?? null;
  if (taken !== null) return { verdict: approvalVerdict(taken), asking: null };
  const { actorId: requestedBy, subjectId: onBehalfOf = null, tenantId, toolCallId } = invocation.context;
  const shown = JSON.stringify(redactArguments(args, tool.spec.inputSchema));
  const message = 'The call waits for an approval.';
  return {
    verdict: { ok: false, code: 'policy_denied', reason: 'approval_pending', message },
    asking: { approvalId, toolCallId, effect: tool.effect, arguments: shown, requestedBy, onBehalfOf, tenantId },
  };
}
