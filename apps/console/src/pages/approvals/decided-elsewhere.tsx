import type { AskedApproval } from '@sluice/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { oneApproval } from '../../data/approvals.js';
import { useSignedIn } from '../../session/session-provider.js';
import { Button } from '../../ui/button.js';
import { Note } from '../../ui/states.js';
import css from './approval.module.css';
import { decided } from './in-words.js';

interface Props {
  readonly asked: AskedApproval;
  readonly onDismiss: () => void;
}

/** That a call stopped waiting though this page did not decide on it: who did, and what. */
export function DecidedElsewhere({ asked, onDismiss }: Props) {
  const { me } = useSignedIn();
  const { data } = useQuery(oneApproval(asked.approval_id));
  // It may wait still, behind those that the list has.
  if (data === undefined || (data.decision === null && data.run_ended === null)) return null;
  const { decision } = data;
  const who = decision?.decided_by === me.user ? 'you, in another page' : decision?.decided_by;
  const what =
    decision === null || decision.decision === 'expire'
      ? 'was not decided in time.'
      : `was ${decided(decision.decision)} by ${who}.`;
  return (
    <Note tone="note">
      <div className={css['elsewhere']}>
        <span>
          Decided elsewhere:{' '}
          <Link from="/approvals" to="/approvals" search={(before) => ({ ...before, approval: asked.approval_id })}>
            {data.tool.key}
          </Link>{' '}
          {what}
        </span>
        <Button tone="quiet" isSmall onPress={onDismiss}>
          Dismiss
        </Button>
      </div>
    </Note>
  );
}
