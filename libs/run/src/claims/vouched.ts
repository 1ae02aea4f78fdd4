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
const approvals = new CanonicalForm({ ...approvalForm, without: { ApprovalRequested: ['inForceVersion', 'agent'] } });
// Former instances do not read these members, and must vouch for the same.
const plainApprovals = new CanonicalForm({
  ...approvalForm,
  without: { ApprovalRequested: ['inForceVersion', 'askedBecause', 'state', 'groups', 'bound', 'agent'] },
});

/** A digest of a record as the log gives it back: the same before it was written and after. */
export function digestOfRecord(name: string, record: object): string {
  return sha256(records.text(name, record));
}

const wholeApprovals = new CanonicalForm(approvalForm);
/** Members that former versions have not, and that their digest does not cover where no rule asks. */
const laterMembers = ['askedBecause', 'state', 'groups', 'bound', 'question', 'agent'] as const;

/** A digest of all that an executor asked to be approved. */
export function wholeDigestOfRequest(requested: ApprovalRequested): string {
  return sha256(wholeApprovals.text('ApprovalRequested', requested));
}

/** Whether the request can be one that a former version wrote: it says nothing in a member that those have not. */
export function mayBeFormer(requested: ApprovalRequested): boolean {
  return laterMembers.every((member) => saysNothing(requested[member]));
}

/** A digest of what an executor asked to be approved, as former instances make it. */
export function digestOfRequest(requested: Pick<ApprovalRequested, 'rules'>): string {
  const form = requested.rules.length === 0 ? plainApprovals : approvals;
  return sha256(form.text('ApprovalRequested', requested));
}
