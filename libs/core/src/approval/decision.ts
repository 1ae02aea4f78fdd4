import type { Policy } from '../settings/policy-types.js';
import { wildcard } from '../rules/defaults.js';

/** What can come of an approval that was asked for; `expire` is said by the executor alone. */
export type ApprovalDecision = 'approve' | 'refuse' | 'expire';

/** Why a decision does not count. The call goes on waiting. */
export const rejectionReasons = {
  unknown_approval: 'No executor asked for this approval, or not where the decision says.',
  invalid_decision: 'The decision is neither `approve` nor `refuse`.',
  invalid_arguments:
    'The edited arguments are not the JSON of an object, not what their hash says, or come with a refusal or on a plan.',
  other_arguments: 'The decision was made on other arguments than those of the call.',
  too_late: 'The time for a decision was up.',
  not_authenticated: 'Its credential is missing or not valid, or names another person than the decision does.',
  not_an_approver:
    'policy.approval.approvers does not name the one who decided, or that person belongs to another tenant.',
  own_call: 'Who asked may not approve it, as policy.approval says.',
  already_decided: 'Another decision came first.',
} as const satisfies Record<string, string>;

export type RejectionReason = keyof typeof rejectionReasons;

/** What was asked for, as far as a decision is judged by it. */
export interface RequestedApproval {
  readonly approvalId: string;
  readonly argumentsHash: string;
  readonly requestedBy: string;
  readonly onBehalfOf: string | null;
  readonly tenantId: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A decision as its author wrote it. */
export interface WrittenDecision {
  readonly approvalId: string;
  readonly decision: string;
  readonly argumentsHash: string;
  /** Whether the arguments that it gives the call, if any, can be taken (`isEditSound`). */
  readonly isEditSound: boolean;
}

/** Who decided. */
export interface Decider {
  readonly actorId: string;
  /** Null where no identity is configured, so that there are no tenants. */
  readonly tenantId: string | null;
}

/**
 * Why the decision does not count under the policy in force, or null if it does, should it be the first one. `at` is
 * when the log took it, milliseconds since the epoch: the time that the record states is not trusted. `asked` is null
 * where nothing was asked, `decider` where the decision does not prove whose it is.
 */
export function judgeDecision(
  asked: RequestedApproval | null,
  written: WrittenDecision,
  decider: Decider | null,
  at: number,
  policy: Pick<Policy, 'approvers' | 'requesterMayNotApprove'>,
): RejectionReason | null {
  const { decision } = written;
  if (asked === null || asked.approvalId !== written.approvalId) return 'unknown_approval';
  if (decision !== 'approve' && decision !== 'refuse') return 'invalid_decision';
  if (asked.argumentsHash !== written.argumentsHash) return 'other_arguments';
  if (!written.isEditSound) return 'invalid_arguments';
  if (at >= asked.expiresAt) return 'too_late';
  if (decider === null) return 'not_authenticated';
  if (!isApprover(decider, asked.tenantId, policy.approvers)) return 'not_an_approver';
  return decision === 'approve' && isOwnCall(asked, decider, policy) ? 'own_call' : null;
}

/** Which decisions on a waiting call would count if they came from this decider in time. */
export function decisionsOpenTo(
  asked: Pick<RequestedApproval, 'requestedBy' | 'onBehalfOf' | 'tenantId'>,
  decider: Decider,
  policy: Pick<Policy, 'approvers' | 'requesterMayNotApprove'>,
): readonly ('approve' | 'refuse')[] {
  if (!isApprover(decider, asked.tenantId, policy.approvers)) return [];
  return isOwnCall(asked, decider, policy) ? ['refuse'] : ['approve', 'refuse'];
}

/** Whether it is a call that the decider, as who asked for it, may refuse and not approve. */
function isOwnCall(
  asked: Pick<RequestedApproval, 'requestedBy' | 'onBehalfOf'>,
  { actorId }: Decider,
  { requesterMayNotApprove }: Pick<Policy, 'requesterMayNotApprove'>,
): boolean {
  return requesterMayNotApprove && (actorId === asked.requestedBy || actorId === asked.onBehalfOf);
}

function isApprover({ actorId, tenantId }: Decider, ofTenant: string, approvers: readonly string[]): boolean {
  if (actorId === '' || (tenantId !== null && tenantId !== ofTenant)) return false;
  return approvers.some((approver) => approver === wildcard || approver === actorId);
}

export function isRejectionReason(code: string): code is RejectionReason {
  return Object.hasOwn(rejectionReasons, code);
}
