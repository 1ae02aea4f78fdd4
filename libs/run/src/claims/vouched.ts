import { CanonicalForm, sha256 } from '@sluice/contracts';
import type { ApprovalRequested } from '@sluice/contracts';

/**
 * The ledger keeps digests of records for a week, and instances of the version before compare with them in an
 * upgrade. So they keep the form that they were first made in, which leaves out whatever says nothing: a member that
 * only a later version has changes no digest.
 */
const saysNothing = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || value === 0 || (Array.isArray(value) && value.length === 0);

const records = new CanonicalForm({ names: 'wire', order: 'name', saysNothing });

const approvalForm = { names: 'process', order: 'name', saysNothing } as const;
const approvals = new CanonicalForm({ ...approvalForm, without: { ApprovalRequested: ['inForceVersion'] } });
// Former instances do not read these members, and must vouch for the same.
const plainApprovals = new CanonicalForm({
  ...approvalForm,
  without: { ApprovalRequested: ['inForceVersion', 'askedBecause', 'state', 'groups', 'bound'] },
});

/** A digest of a record as the log gives it back: the same before it was written and after. */
export function digestOfRecord(name: string, record: object): string {
  return sha256(records.text(name, record));
}

/** A digest of what an executor asked to be approved. */
export function digestOfRequest(requested: Pick<ApprovalRequested, 'rules'>): string {
  const form = requested.rules.length === 0 ? plainApprovals : approvals;
  return sha256(form.text('ApprovalRequested', requested));
}
