import { needsApproval, redactArguments } from '@sluice/core';
import type { BoundTool, JsonValue, ToolEffect, ToolInvocation, Verdict } from '@sluice/core';
import { sha256 } from '@sluice/service';
import type { Loaded } from '@sluice/service';
import type { ApprovalClaims, TakenDecision } from './claims.js';

/** A call that waits for somebody: what its ApprovalRequested says of it. */
export interface Asking {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly effect: ToolEffect;
  /** The validated arguments as JSON, redacted. */
  readonly arguments: string;
  readonly requestedBy: string;
  readonly onBehalfOf: string | null;
  readonly tenantId: string;
}

const longestReason = 500;

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
  const needed = judges.some(({ configuration, evaluator }) =>
    needsApproval(evaluator.byId(tool.id) ?? { spec: null }, configuration.policy),
  );
  if (!needed) return { verdict: { ok: true }, asking: null };
  const approvalId = approvalIdOf(invocation.callKey);
  const taken = (await claims.decisionOn(approvalId)) ?? null;
  if (taken !== null) return { verdict: verdictOf(taken), asking: null };
  const { actorId: requestedBy, subjectId: onBehalfOf = null, tenantId, toolCallId } = invocation.context;
  const shown = JSON.stringify(redactArguments(args, tool.spec.inputSchema));
  const message = 'The call waits for an approval.';
  return {
    verdict: { ok: false, code: 'policy_denied', reason: 'approval_pending', message },
    asking: { approvalId, toolCallId, effect: tool.effect, arguments: shown, requestedBy, onBehalfOf, tenantId },
  };
}

/** Derived from the call key (request, iteration, index, tool and arguments), so that an approval is one of this very call. */
function approvalIdOf(callKey: string): string {
  return `a-${sha256(callKey).slice(0, 20)}`;
}

/** What the decision means for the call. Who decided is not the model’s to know. */
function verdictOf(taken: TakenDecision): Verdict {
  switch (taken.decision) {
    case 'approve':
      return { ok: true };
    case 'refuse': {
      const why = taken.reason === '' ? '' : ` The reason given: ${taken.reason.slice(0, longestReason)}`;
      const message = `This call was not approved, so it was not made. Go on without it, or answer.${why}`;
      return { ok: false, code: 'policy_denied', reason: 'approval_refused', message };
    }
    case 'expire': {
      const message = 'Nobody approved this call in time, so it was not made. Go on without it, or answer.';
      return { ok: false, code: 'policy_denied', reason: 'approval_expired', message };
    }
  }
}
