import type { JsonObject } from '@sluice/core';
import type { Approval, ApprovalDecided, ApprovalRequested, AskedQuestion, StandingApproval } from '@sluice/contracts';
import { cut, time, draftEntry } from './draft-entry.js';
import type { EntryDraft } from './draft-entry.js';

/** A call that waits for an approval, a decision on it, or its outcome. */
export function approvalEntry({ requested, decided, outcome, escalated, standing }: Approval, key: string): EntryDraft {
  if (requested !== null) return requestedEntry(requested);
  if (decided !== null) {
    return draftEntry('approval_decided', decided, {
      approval_id: decided.approvalId,
      decision: decided.decision,
      decided_by: decided.decidedBy,
      ...(decided.decidedFor === null ? {} : { decided_for: decided.decidedFor }),
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
      ...(outcome.decidedFor === null ? {} : { decided_for: outcome.decidedFor }),
      ...(outcome.decidedThrough === null ? {} : { decided_through: outcome.decidedThrough }),
      reason: cut(outcome.reason),
      arguments_hash: outcome.argumentsHash,
      ...editOf(outcome),
      not_taken: outcome.notTaken,
      at: time(outcome.at),
      ...(outcome.stillNeeded === 0 ? {} : { still_needed: outcome.stillNeeded }),
      ...given('rules', outcome.rules),
      ...given('approved_by', outcome.approvedBy),
      ...given('decided_as', outcome.decidedAs),
    });
  }
  if (escalated !== null) {
    return draftEntry('approval_escalated', escalated, {
      approval_id: escalated.approvalId,
      tool: escalated.tool,
      rule: escalated.rule,
      to: escalated.to,
      at: time(escalated.at),
    });
  }
  if (standing !== null) return standingEntry(standing);
  return draftEntry('approval_empty', { sessionId: key }, {});
}

/** The list under its name, where it has anything. */
function given<K extends string, T>(name: K, list: readonly T[]): { readonly [P in K]?: readonly T[] } {
  return (list.length === 0 ? {} : { [name]: list }) as { readonly [P in K]?: readonly T[] };
}

/** What its caller is asked, and by which server. */
function questionOf({ server, round, askedAt }: AskedQuestion): JsonObject {
  return { server, round, asked_at: time(askedAt) };
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
    ...(requested.askedBecause === '' ? {} : { asked_because: cut(requested.askedBecause) }),
    ...(requested.state === '' ? {} : { state: requested.state }),
    ...given('groups', requested.groups),
    ...given(
      'rules',
      requested.rules.map(({ rule, name, quorum, onExpiry }) => ({ rule, name, quorum, on_expiry: onExpiry })),
    ),
    ...(requested.bound === '' ? {} : { bound: requested.bound }),
    ...given('others', requested.others),
    ...(requested.behind === null ? {} : { behind: requested.behind }),
    ...(requested.question === null ? {} : { question: questionOf(requested.question) }),
  });
}

/** The hash alone: which of the arguments are secret, the step of the call says. Without an edit nothing is said. */
function editOf({ editedHash }: Pick<ApprovalDecided, 'editedHash'>): JsonObject {
  return editedHash === null ? {} : { edited_hash: editedHash };
}

/** What an approver says of calls to come, or what an executor says of that. */
function standingEntry(standing: StandingApproval): EntryDraft {
  const about = {
    standing_id: standing.standingId,
    action: standing.action,
    tool: standing.tool,
    bounds: cut(standing.bounds),
    session: standing.sessionId,
    user: standing.user,
    until: time(standing.until),
    calls: standing.calls,
    decided_by: standing.decidedBy,
    reason: cut(standing.reason),
    decided_at: time(standing.decidedAt),
  };
  if (standing.at === null) return draftEntry('standing_approval_decided', standing, about);
  const judged = { tenant: standing.tenantId, not_taken: standing.notTaken, at: time(standing.at) };
  return draftEntry('standing_approval_outcome', standing, { ...about, ...judged });
}
