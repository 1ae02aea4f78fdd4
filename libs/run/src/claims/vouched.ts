import { CanonicalForm, sha256 } from '@sluice/contracts';

/**
 * The ledger keeps digests of records for a week, and instances of the version before compare with them in an
 * upgrade. So they keep the form that they were first made in, which leaves out whatever says nothing: a member that
 * only a later version has changes no digest.
 */
const saysNothing = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || value === 0 || (Array.isArray(value) && value.length === 0);

const records = new CanonicalForm({ names: 'wire', order: 'name', saysNothing });

const approvals = new CanonicalForm({
  names: 'process',
  order: 'name',
  saysNothing,
  // Former instances do not read this member, and must vouch for the same.
  without: { ApprovalRequested: ['inForceVersion'] },
});

/** A digest of a record as the log gives it back: the same before it was written and after. */
export function digestOfRecord(name: string, record: object): string {
  return sha256(records.text(name, record));
}

/** A digest of what an executor asked to be approved. */
export function digestOfRequest(requested: object): string {
  return sha256(approvals.text('ApprovalRequested', requested));
}
