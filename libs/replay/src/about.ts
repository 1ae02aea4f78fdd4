import type { ApprovalRequested } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { tenantOf } from '@sluice/run';
import type { RunRecords } from './run-records.js';

/**
 * What was asked of the approvers where this was asked, decided or judged; undefined if it is not among the records.
 */
export function approvalRequestOf(
  { record }: Incoming<'agent.approvals'>,
  run: RunRecords | null,
): ApprovalRequested | undefined {
  if (record.requested !== null) return record.requested;
  const approvalId = (record.decided ?? record.outcome)?.approvalId;
  const all = run?.approvals.map((message) => message.record.requested) ?? [];
  return all.find((requested) => requested?.approvalId === approvalId) ?? undefined;
}

/** The tenant of a run, by whichever of its records says it; null if none does. */
export function tenantOfRun({ toolsets, calls, steps, approvals, responses }: RunRecords): string | null {
  for (const message of [...toolsets, ...calls, ...steps, ...approvals, ...responses]) {
    const tenant = tenantOf(message);
    if (tenant !== null) return tenant;
  }
  return null;
}
