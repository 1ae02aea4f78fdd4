import { approversAt, keyOfRule, printable, rulesInForce, wildcard } from '@sluice/core';
import type { DecisionPolicy } from '@sluice/core';

/** Approvers that are named in one line, at most. */
const mostNamed = 10;

/** Who may decide on a call that waits, by the policy: for each of the rules that ask, where some do. */
export function whoMayApprove(policy: DecisionPolicy, asked: Parameters<typeof rulesInForce>[0], now: number): string {
  const { approvers, requesterMayNotApprove } = policy;
  const [first, ...others] = asked.rules.length === 0 ? [] : rulesInForce(asked, policy);
  if (first === undefined) return namesOf(approvers, 1, requesterMayNotApprove);
  return [first, ...others]
    .map((rule) => `${namesOf(approversAt(rule, now), rule.quorum, requesterMayNotApprove)} (${keyOfRule(rule)})`)
    .join(', and ');
}

function namesOf(approvers: readonly string[], quorum: number, requesterMayNotApprove: boolean): string {
  const except = requesterMayNotApprove || quorum > 1 ? ', but not who asked' : '';
  if (approvers.length === 0) return 'no one: policy.approval names no approvers any more';
  if (approvers.includes(wildcard)) return `${quorum > 1 ? `${quorum} persons` : 'anybody'}${except}`;
  const names = approvers.slice(0, mostNamed).map(printable).join(', ');
  const more = approvers.length > mostNamed ? ` and ${approvers.length - mostNamed} more` : '';
  return `${approvers.length > 1 || quorum > 1 ? `${quorum === 1 ? 'one' : quorum} of ` : ''}${names}${more}${except}`;
}
