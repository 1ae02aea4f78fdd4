import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { oneApproval } from '../../data/approvals.js';
import { Page } from '../../ui/page.js';
import { ApprovalDetail } from './approval-detail.js';
import { DecideButtons } from './decide-buttons.js';
import { DecideDialog } from './decide-dialog.js';
import type { Decision } from './decide-dialog.js';

/** One approval by its address, which others can be sent. */
export function ApprovalPage() {
  const { approvalId } = useParams({ from: '/approvals/$approvalId' });
  const { data } = useQuery(oneApproval(approvalId));
  const [deciding, setDeciding] = useState<Decision | null>(null);
  return (
    <Page
      title={data === undefined ? 'Approval' : `Approval of ${data.tool.key}`}
      actions={<Link to="/approvals">All approvals</Link>}
    >
      <ApprovalDetail
        id={approvalId}
        actions={(approval) => <DecideButtons approval={approval} hasKeys={false} onDecide={setDeciding} />}
      />
      {deciding !== null && data !== undefined && (
        <DecideDialog
          approval={data}
          decision={deciding}
          onClose={() => setDeciding(null)}
          onDecided={() => undefined}
        />
      )}
    </Page>
  );
}
