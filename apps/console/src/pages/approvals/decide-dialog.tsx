import { ConnectionError, DecisionNotTakenError } from '@sluice/client';
import type { AskedApproval, PublishedDecision } from '@sluice/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { sluice } from '../../data/client.js';
import { queries } from '../../data/queries.js';
import { useSignedIn } from '../../session/session-provider.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextArea } from '../../ui/field.js';
import { Facts } from '../../ui/page.js';
import { Note } from '../../ui/states.js';
import { afterwards } from './in-words.js';

export type Decision = 'approve' | 'refuse';

interface Props {
  readonly asked: AskedApproval;
  readonly decision: Decision;
  readonly onClose: () => void;
  /** The decision of this page is on the log. */
  readonly onDecided: (published: PublishedDecision) => void;
}

/** A decision is made in two steps: what it is about and why stand between them. */
export function DecideDialog({ asked, decision, onClose, onDecided }: Props) {
  const { me } = useSignedIn();
  const [reason, setReason] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      sluice.approvals.decide(asked, decision, { reason: reason.trim(), decidedBy: me.user, waitSeconds: 10 }),
    onSuccess: (published) => {
      onDecided(published);
      onClose();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['approvals'] }),
  });
  const isApproval = decision === 'approve';
  return (
    <Dialog
      title={isApproval ? 'Approve this call?' : 'Refuse this call?'}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{error === null ? 'Not now' : 'Close'}</Button>
          <Button tone={isApproval ? 'primary' : 'bad'} isDisabled={isPending} onPress={() => mutate()}>
            {isPending ? 'Deciding …' : isApproval ? 'Approve' : 'Refuse'}
          </Button>
        </>
      }
    >
      {error !== null && <WhyNot error={error} />}
      <Facts
        facts={[
          { name: 'Tool', value: <code>{asked.tool}</code> },
          { name: 'Arguments', value: <code>{shortened(asked.arguments)}</code> },
          { name: 'Asked by', value: asked.requested_by },
        ]}
      />
      <p>
        {isApproval
          ? 'The call runs once, with these arguments, after policy is checked again. Another call is asked about again.'
          : 'The call does not run. The run goes on without it, and the model reads your reason.'}
      </p>
      <TextArea
        label={isApproval ? 'Reason (optional)' : 'Reason'}
        value={reason}
        onChange={setReason}
        maxLength={2_000}
        autoFocus
        description="It stands in the audit."
      />
    </Dialog>
  );
}

function WhyNot({ error }: { readonly error: Error }) {
  const next =
    error instanceof DecisionNotTakenError
      ? (afterwards[error.notTaken] ?? '')
      : error instanceof ConnectionError
        ? 'It may have been taken or not. To decide the same again does no harm: the first decision counts.'
        : '';
  return (
    <Note tone="bad">
      <strong>{error instanceof ConnectionError ? 'No answer came.' : 'This decision does not count.'}</strong>{' '}
      {error.message} {next}
    </Note>
  );
}

function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)} …` : text;
}
