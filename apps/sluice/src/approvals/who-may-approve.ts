import { printable, wildcard } from '@sluice/core';
import type { Policy } from '@sluice/core';

/** Approvers that are named in one line, at most. */
const mostNamed = 10;

/** Who may decide on a call that waits, by the policy. */
export function whoMayApprove({
  approvers,
  requesterMayNotApprove,
}: Pick<Policy, 'approvers' | 'requesterMayNotApprove'>): string {
  const except = requesterMayNotApprove ? ', but not who asked' : '';
  if (approvers.length === 0) return 'no one: policy.approval names no approvers any more';
  if (approvers.includes(wildcard)) return `anybody${except}`;
  const names = approvers.slice(0, mostNamed).map(printable).join(', ');
  const more = approvers.length > mostNamed ? ` and ${approvers.length - mostNamed} more` : '';
  return `${approvers.length > 1 ? 'one of ' : ''}${names}${more}${except}`;
}
