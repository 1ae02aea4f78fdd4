import { ConnectionError, DecisionNotTakenError } from '@sluice/client';
import type { Approval, PublishedDecision } from '@sluice/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { sluice } from '../../data/client.js';
import { queries } from '../../data/queries.js';
import { useSignedIn } from '../../session/session-provider.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Facts } from '../../ui/page.js';
import { Note } from '../../ui/states.js';
import { EditArguments, editableText } from './edit-arguments.js';
import { afterwards } from './in-words.js';
import { isOfSeveral } from './progress.js';
import { faultsIn } from './schema-faults.js';
import { ReasonField, shortened } from './reason-field.js';

export type Decision = 'approve' | 'refuse';

interface Props {
  readonly approval: Approval;
  readonly decision: Decision;
  readonly onClose: () => void;
  /** The decision of this page is on the log. */
  readonly onDecided: (published: PublishedDecision) => void;
}

/** A decision is made in two steps: what it is about and why stand between them. */
export function DecideDialog({ approval, decision, onClose, onDecided }: Props) {
  const { approval: asked, tool, progress, asked_because: rule } = approval;
  const { me } = useSignedIn();
  const [reason, setReason] = useState('');
  const own = editableText(asked.arguments, rule?.rule === 'plan', isOfSeveral(approval));
  const [edited, setEdited] = useState<string | null>(null);
  const faults = edited === null ? [] : faultsIn(edited, tool.input_schema);
  const isEdited = edited !== null && edited !== own;
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      sluice.approvals.decide(asked, decision, {
        ...{ reason: reason.trim(), decidedBy: me.user, waitSeconds: 10 },
        ...(isEdited ? { arguments: JSON.parse(edited) as Readonly<Record<string, unknown>> } : {}),
      }),
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
          <Button
            tone={isApproval ? 'primary' : 'bad'}
            isDisabled={isPending || faults.length > 0}
            onPress={() => mutate()}
          >
            {isPending ? 'Deciding …' : isEdited ? 'Approve as changed' : isApproval ? 'Approve' : 'Refuse'}
          </Button>
        </>
      }
    >
      {error !== null && <WhyNot error={error} />}
      <Facts
        facts={[
          { name: 'Tool', value: <code>{asked.tool}</code> },
          ...(edited === null ? [{ name: 'Arguments', value: <code>{shortened(asked.arguments)}</code> }] : []),
          { name: 'Asked by', value: asked.requested_by },
        ]}
      />
      {edited !== null && own !== null && <EditArguments text={edited} faults={faults} onChange={setEdited} />}
      {isApproval && own !== null && (
        <div>
          <Button tone="quiet" isSmall onPress={() => setEdited(edited === null ? own : null)}>
            {edited === null ? 'Change the arguments' : 'Leave them as they are'}
          </Button>
        </div>
      )}
      <p>{whatFollows(isApproval, isEdited, progress.still_needed)}</p>
      <ReasonField value={reason} onChange={setReason} isOptional={isApproval} description="It stands in the audit." />
    </Dialog>
  );
}

function whatFollows(isApproval: boolean, isEdited: boolean, needed: number): string {
  if (!isApproval) return 'The call does not run. The run goes on without it, and the model reads your reason.';
  if (needed > 1)
    return `Yours is one of ${needed} approvals that the call waits for still. It runs once all are given.`;
  if (isEdited)
    return 'The call runs once, with your arguments, after all checks of a call. The model reads what was changed, not by whom.';
  return 'The call runs once, with these arguments, after policy is checked again. Another call is asked about again.';
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
