import { Link } from '@tanstack/react-router';
import { Tag } from '../../../ui/tag.js';
import { Moment } from '../../../ui/time.js';
import type { ApprovalItem } from './model.js';
import css from './timeline.module.css';

/** That a call waits, or waited, for a person. */
export function ApprovalLine({ item: { approval, outcome } }: { readonly item: ApprovalItem }) {
  const tag =
    outcome === null ? (
      <Tag tone="warn">waits</Tag>
    ) : (
      <Tag tone={outcome.decision === 'approve' ? 'good' : 'bad'}>{words[outcome.decision] ?? outcome.decision}</Tag>
    );
  return (
    <span className={css['quiet']}>
      {tag}{' '}
      <Link to="/approvals/$approvalId" params={{ approvalId: approval.approval_id }}>
        Approval
      </Link>{' '}
      {outcome === null ? (
        <>
          asked <Moment at={approval.requested_at} />, lapses <Moment at={approval.expires_at} />
        </>
      ) : (
        <>
          {outcome.decided_by !== '' && `by ${outcome.decided_by}`}
          {outcome.reason !== '' && `: ${outcome.reason}`}
        </>
      )}
    </span>
  );
}

const words: Readonly<Record<string, string>> = { approve: 'approved', refuse: 'refused', expire: 'expired' };
