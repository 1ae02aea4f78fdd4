import { approvalsMissing, approversAt, onExpiryOf, rulesInForce, stillNeeded } from '@sluice/core';
import type { AskingRule, DecisionPolicy, GivenApproval, OnExpiry } from '@sluice/core';
import type { ApprovalClaims } from '@sluice/run';

/** What asks for an approval of a call, and what it waits for still, as it is shown. */
interface ShownRule {
  readonly rule: string;
  readonly name: string;
  readonly message: string;
  readonly quorum: number;
  readonly given: number;
  readonly needed: number;
  /** Who may decide now. */
  readonly approvers: readonly string[];
  readonly escalates_at: number | null;
  readonly escalate_to: readonly string[];
  readonly escalated: boolean;
  readonly on_expiry: string;
}

/** How far the approval of a call has come. */
export interface ApprovalProgress {
  readonly rules: readonly ShownRule[];
  readonly approved_by: readonly { readonly by: string; readonly at: number; readonly rules: readonly string[] }[];
  /** Approvals that the call waits for still. */
  readonly still_needed: number;
  /** What happens to the call when its time is up. */
  readonly on_expiry: OnExpiry;
}

type AskedRules = { readonly rules: readonly AskingRule[]; readonly requestedAt: number };

/** The approvals that were given of a call that needs several; none of a call that needs one. */
export async function approvalsGiven(
  approvalId: string,
  { rules }: Pick<AskedRules, 'rules'>,
  claims: Pick<ApprovalClaims, 'approvalsOf'>,
): ReturnType<ApprovalClaims['approvalsOf']> {
  const isSeveral = rules.length > 1 || rules.some(({ quorum }) => quorum > 1);
  return isSeveral ? claims.approvalsOf(approvalId) : [];
}

/** By the policy in force, at this time. */
export function progressOf(
  asked: AskedRules,
  given: readonly (GivenApproval & { readonly at: number })[],
  policy: DecisionPolicy,
  now: number,
): ApprovalProgress {
  const rules = asked.rules.length === 0 ? [] : rulesInForce(asked, policy);
  const states = stillNeeded(rules, given);
  return {
    rules: states.map(({ rule, given: count, needed }) => ({
      ...{ rule: rule.rule, name: rule.name, message: rule.message, quorum: rule.quorum, given: count, needed },
      approvers: approversAt(rule, now),
      escalates_at: rule.escalatesAt,
      escalate_to: rule.escalateTo,
      escalated: rule.escalatesAt !== null && now >= rule.escalatesAt,
      on_expiry: rule.onExpiry,
    })),
    approved_by: given.map(({ by, at, rules: of }) => ({ by, at, rules: of })),
    still_needed: asked.rules.length === 0 ? 1 : approvalsMissing(asked.rules, given),
    on_expiry: onExpiryOf(rules),
  };
}

/** The rules of a request as the list keeps it; none where an earlier version wrote it. */
export function rulesIn(asked: Readonly<Record<string, unknown>>): readonly AskingRule[] {
  const rules = (asked['rules'] ?? []) as readonly {
    readonly rule: string;
    readonly name: string;
    readonly message: string;
    readonly quorum: number;
    readonly approvers: readonly string[];
    readonly escalates_at: number | null;
    readonly escalate_to: readonly string[];
    readonly on_expiry: string;
  }[];
  return rules.map(({ escalates_at: escalatesAt, escalate_to: escalateTo, on_expiry: onExpiry, ...rule }) => {
    return { ...rule, escalatesAt, escalateTo, onExpiry };
  });
}
