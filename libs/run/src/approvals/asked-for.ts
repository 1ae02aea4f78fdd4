import type { ApprovalDecided, ApprovalRequested } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import { approvalAt } from './open.js';
import type { ApprovalClaims } from '../claims/approvals.js';

/** What an executor asked where the decision says; null if none did. */
export async function approvalRequestFor(
  { requestedPartition: partition, requestedOffset: offset }: ApprovalDecided,
  bus: Bus,
  claims: Pick<ApprovalClaims, 'isVouched'>,
): Promise<ApprovalRequested | null> {
  if (partition === null || offset === null) return null;
  const requested = await approvalAt(bus, { partition, offset });
  return requested !== undefined && (await claims.isVouched(requested)) ? requested : null;
}
