import type { ToolEffect, Verdict } from '@sluice/core';
import { sha256 } from '@sluice/service';
import type { TakenDecision } from './claims.js';

/** A call that waits for somebody: what its ApprovalRequested says of it. */
export interface Asking {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly effect: ToolEffect;
  /** The validated arguments as JSON, redacted. */
  readonly arguments: string;
  readonly requestedBy: string;
  readonly onBehalfOf: string | null;
}

const longestReason = 500;

/** Derived from the call key (request, iteration, index, tool and arguments), so that an approval is one of this very call. */
export function approvalIdOf(callKey: string): string {
  return `a-${sha256(callKey).slice(0, 20)}`;
}

/** What the decision means for the call; null: nobody has decided. Who decided is not the model’s to know. */
export function verdictOf(taken: TakenDecision | null): Verdict {
  if (taken === null) {
    const message = 'The call waits for an approval.';
    return { ok: false, code: 'policy_denied', reason: 'approval_pending', message };
  }
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
