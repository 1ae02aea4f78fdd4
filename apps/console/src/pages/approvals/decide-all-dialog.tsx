import { ConnectionError } from '@sluice/client';
import type { DecisionAnswer, WaitingApproval } from '@sluice/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { sluice } from '../../data/client.js';
import { queries } from '../../data/queries.js';
import { useSignedIn } from '../../session/session-provider.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Note } from '../../ui/states.js';
import { Tag } from '../../ui/tag.js';
import css from './approval.module.css';
import type { Decision } from './decide-dialog.js';
import { afterwards } from './in-words.js';
import { ReasonField, shortened } from './reason-field.js';

interface Props {
  /** As they were when the dialog was opened: what is decided is what is read. */
  readonly calls: readonly WaitingApproval[];
  readonly decision: Decision;
  readonly onClose: () => void;
  /** The decision of this page on this one is on the log. */
  readonly onDecided: (approvalId: string) => void;
}

/** One decision on the calls of a turn, each of which counts or not by itself: what it is about, then each outcome. */
export function DecideAllDialog({ calls, decision, onClose, onDecided }: Props) {
  const { me } = useSignedIn();
  const [reason, setReason] = useState('');
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: () =>
      sluice.approvals.decideAll({
        decisions: calls.map(({ approval }) => ({
          ...{ approval_id: approval.approval_id, request_id: approval.request_id, session_id: approval.session_id },
          ...{ arguments_hash: approval.arguments_hash, requested_partition: approval.requested_partition },
          ...{ requested_offset: approval.requested_offset, decision, reason: reason.trim(), decided_by: me.user },
        })),
      }),
    onSuccess: ({ decisions }) => {
      for (const { approval_id: id, status } of decisions) if (status !== 'refused') onDecided(id);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['approvals'] }),
  });
  const isApproval = decision === 'approve';
  const verb = isApproval ? 'Approve' : 'Refuse';
  return (
    <Dialog
      title={data === undefined ? `${verb} these ${calls.length} calls?` : titleOf(data.decisions)}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{error === null && data === undefined ? 'Not now' : 'Close'}</Button>
          {data === undefined && (
            <Button tone={isApproval ? 'primary' : 'bad'} isDisabled={isPending} onPress={() => mutate()}>
              {isPending ? 'Deciding …' : `${verb} all ${calls.length}`}
            </Button>
          )}
        </>
      }
    >
      {error !== null && <WhyNot error={error} />}
      <ol className={css['rules']} aria-label="Calls of the turn, in their order">
        {calls.map(({ approval, tool }) => (
          <li key={approval.approval_id}>
            <div className={css['stepHead']}>
              <strong>{tool.key}</strong>
              <Outcome answer={data?.decisions.find(({ approval_id: id }) => id === approval.approval_id)} />
            </div>
            <code className={css['text']}>{shortened(approval.arguments)}</code>
          </li>
        ))}
      </ol>
      {data === undefined && (
        <>
          <p>{whatFollows(isApproval, calls)}</p>
          <ReasonField
            value={reason}
            onChange={setReason}
            isOptional={isApproval}
            description="It stands in the audit, for each call."
          />
        </>
      )}
    </Dialog>
  );
}

function whatFollows(isApproval: boolean, calls: readonly WaitingApproval[]): string {
  if (!isApproval) return 'None of them runs. The run goes on without them, and the model reads your reason.';
  const runs = 'Each call runs once, in this order, with these arguments, after policy is checked again.';
  const isOfSeveral = calls.some(({ progress }) => progress.still_needed > 1);
  return isOfSeveral ? `${runs} A call that needs further approvals waits for these.` : runs;
}

function Outcome({ answer }: { readonly answer: DecisionAnswer | undefined }) {
  if (answer === undefined) return null;
  const { status, not_taken: why, message } = answer;
  if (status !== 'refused') return <Tag tone="good">{status === 'taken' ? 'decided before' : 'decided'}</Tag>;
  return (
    <>
      <Tag tone="bad">does not count</Tag>
      <span>
        {message} {afterwards[why ?? ''] ?? ''}
      </span>
    </>
  );
}

function WhyNot({ error }: { readonly error: Error }) {
  const isCut = error instanceof ConnectionError;
  return (
    <Note tone="bad">
      <strong>{isCut ? 'No answer came.' : 'Nothing was decided.'}</strong> {error.message}{' '}
      {isCut && 'Some may have been decided. To decide the same again does no harm: the first decision counts.'}
    </Note>
  );
}

function titleOf(answers: readonly DecisionAnswer[]): string {
  const counting = answers.filter(({ status }) => status !== 'refused').length;
  return counting === answers.length ? 'All are decided' : `${counting} of ${answers.length} are decided`;
}
