import { isAnyApprover, isApprovalOf, judgeDecision, mayDecideFor, rejectionReasons, serviceKind } from '@sluice/core';
import type { Configuration, Decider, DecisionPolicy, RejectionReason } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { ApprovalDecided, ApprovalRequested } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import { isEditSound } from './edit.js';
import { approvalRequestFor } from './asked-for.js';
import type { ApprovalClaims, ClaimedDecision } from '../claims/approvals.js';

/** What a decision is judged by before it is on the log. */
interface DoorFacts {
  readonly bus: Bus;
  readonly claims: Pick<ApprovalClaims, 'isVouched' | 'decisionOn' | 'approvalsOf'>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly configuration: Pick<Configuration, 'tools'> & { readonly policy: DecisionPolicy };
}

/** Whose decision it is: null where it does not prove that. The tenant holds in any case; null where there are none. */
interface AtDoor {
  readonly decider: Decider | null;
  readonly tenantId: string | null;
}

type DoorVerdict =
  /** It counts, should it be the first one. */
  | { readonly kind: 'counts'; readonly asked: ApprovalRequested; readonly decider: Decider }
  /** This very decision was taken before: a client may send it again. */
  | {
      readonly kind: 'taken';
      readonly asked: ApprovalRequested;
      readonly decider: Decider;
      readonly taken: Pick<ClaimedDecision, 'decision' | 'decidedBy' | 'reason'>;
    }
  | {
      readonly kind: 'refused';
      readonly asked: ApprovalRequested | null;
      readonly reason: RejectionReason;
      readonly message: string;
    };

const needsService =
  'Only a service decides for another person: send its credential, such as an API key, and name both in policy.approval.on_behalf.';

/** Judges by the name alone: who decides without an identity, or as a person, is none. */
function isService(through: Decider['through']): boolean {
  return through != null && through.actorId.startsWith(serviceKind);
}

/**
 * Judges a decision before it is on the log, by the executor’s own rule, so that one that cannot count is refused with
 * its reason. The executor still judges what reaches the log, under the configuration that it has then.
 */
export async function judgeAtDoor(decided: ApprovalDecided, who: AtDoor, facts: DoorFacts): Promise<DoorVerdict> {
  const asked = await requestOf(who.tenantId, decided, facts);
  const refused = (reason: RejectionReason, message: string = rejectionReasons[reason]): DoorVerdict => {
    return { kind: 'refused', asked, reason, message };
  };
  const { decider } = who;
  const { policy } = facts.configuration;
  // Who is no approver learns nothing of what waits: that comes first.
  if (decider === null) return refused('not_authenticated');
  if (!mayDecideFor(decider, policy))
    return refused('not_for_person', isService(decider.through) ? undefined : needsService);
  if (!isAnyApprover(decider, policy)) return refused('not_an_approver');

  // The answer is more than a decision: it comes with the call.
  if (asked !== null && asked.question !== null) return refused('not_an_approver', waitsForAnswer);

  const written = { ...decided, isEditSound: isEditSound(decided, asked?.tool, facts.configuration) };
  const notTaken = judgeDecision(asked, written, decider, facts.now, policy);
  if (asked === null) return refused(notTaken ?? 'unknown_approval');
  // A decision that was taken tells more than that the time is up.
  const first = notTaken === null || notTaken === 'too_late' ? await facts.claims.decisionOn(asked.approvalId) : null;
  if (first !== undefined && first !== null)
    return isSameDecision(first, decided, decider)
      ? { kind: 'taken', asked, decider, taken: first }
      : refused('already_decided', wasDecided(first));
  const given = notTaken === null && decided.decision === 'approve' ? await approvalBy(asked, decider, facts) : null;
  if (given !== null)
    return given.by === decider.actorId && given.reasonHash === sha256(decided.reason.toWellFormed())
      ? { kind: 'taken', asked, decider, taken: { decision: 'approve', decidedBy: given.by, reason: decided.reason } }
      : refused('already_decided');
  return notTaken === null ? { kind: 'counts', asked, decider } : refused(notTaken);
}

const waitsForAnswer = 'The call waits for an answer of its caller to a form of its MCP server, and for no approval.';

/** What an executor asked. Another tenant’s calls are none that the decider can name. */
async function requestOf(
  tenantId: string | null,
  decided: ApprovalDecided,
  { bus, claims }: DoorFacts,
): Promise<ApprovalRequested | null> {
  const asked = await approvalRequestFor(decided, bus, claims);
  return asked !== null && (tenantId ?? asked.tenantId) === asked.tenantId ? asked : null;
}

/** The approval that the decider gave before, of a call that needs several. */
async function approvalBy({ approvalId, rules }: ApprovalRequested, decider: Decider, { claims }: DoorFacts) {
  if (rules.length === 0) return null;
  return (await claims.approvalsOf(approvalId)).find((one) => isApprovalOf(one, decider)) ?? null;
}

function isSameDecision(
  first: ClaimedDecision,
  { decision, reason, editedArguments }: ApprovalDecided,
  { actorId }: Decider,
): boolean {
  const isSame = first.decision === decision && first.decidedBy === actorId && first.reason === reason;
  return isSame && (first.edited ?? null) === editedArguments;
}

function wasDecided({ decision, decidedBy }: ClaimedDecision): string {
  return `It was decided before: ${decision}, by ${decidedBy}. The first decision counts.`;
}
