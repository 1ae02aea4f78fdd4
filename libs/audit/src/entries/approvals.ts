import type { JsonObject } from '@sluice/core';
import type { Approval, ApprovalDecided, ApprovalRequested } from '@sluice/contracts';
import { cut, time, draftEntry } from './draft-entry.js';
import type { EntryDraft } from './draft-entry.js';

/** A call that waits for an approval, a decision on it, or its outcome. */
export function approvalEntry({ requested, decided, outcome }: Approval, key: string): EntryDraft {
  if (requested !== null) return requestedEntry(requested);
  if (decided !== null) {
    return draftEntry('approval_decided', decided, {
      approval_id: decided.approvalId,
      decision: decided.decision,
      decided_by: decided.decidedBy,
      reason: cut(decided.reason),
      arguments_hash: decided.argumentsHash,
      ...editOf(decided),
      decided_at: time(decided.decidedAt),
    });
  }
  if (outcome !== null) {
    return draftEntry('approval_outcome', outcome, {
      approval_id: outcome.approvalId,
      decision: outcome.decision,
      decided_by: outcome.decidedBy,
      reason: cut(outcome.reason),
      arguments_hash: outcome.argumentsHash,
      ...editOf(outcome),
      not_taken: outcome.notTaken,
      at: time(outcome.at),
    });
  }
  return draftEntry('approval_empty', { sessionId: key }, {});
}

function requestedEntry(requested: ApprovalRequested): EntryDraft {
  return draftEntry('approval_requested', requested, {
    approval_id: requested.approvalId,
    iteration: requested.iteration,
    index: requested.index,
    tool_call_id: requested.toolCallId,
    tool: requested.tool,
    effect: requested.effect,
    actor: requested.requestedBy,
    tenant: requested.tenantId,
    subject: requested.onBehalfOf,
    arguments: cut(requested.arguments),
    arguments_hash: requested.argumentsHash,
    requested_at: time(requested.requestedAt),
    expires_at: time(requested.expiresAt),
  });
}

/** The hash alone: which of the arguments are secret, the step of the call says. Without an edit nothing is said. */
function editOf({ editedHash }: Pick<ApprovalDecided, 'editedHash'>): JsonObject {
  return editedHash === null ? {} : { edited_hash: editedHash };
}
