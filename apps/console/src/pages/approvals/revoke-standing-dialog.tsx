import type { ListedStanding } from '@sluice/client';
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
import { whose } from './whose.js';

interface Props {
  readonly standing: ListedStanding;
  readonly onClose: () => void;
}

/** The step that confirms that no further call runs by a standing approval. */
export function RevokeStandingDialog({ standing, onClose }: Props) {
  const { standing_id: id, tool_key: key, used, calls } = standing;
  const { me } = useSignedIn();
  const [reason, setReason] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => sluice.approvals.revokeStanding(id, { reason: reason.trim(), decided_by: me.user }),
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries({ queryKey: ['approvals'] }),
  });
  return (
    <Dialog
      title="Revoke this standing approval?"
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{error === null ? 'Not now' : 'Close'}</Button>
          <Button tone="bad" isDisabled={isPending} onPress={() => mutate()}>
            {isPending ? 'Revoking …' : 'Revoke'}
          </Button>
        </>
      }
    >
      {error !== null && (
        <Note tone="bad">
          <strong>It was not revoked.</strong> {error.message}
        </Note>
      )}
      <Facts
        facts={[
          { name: 'Tool', value: <code>{key}</code> },
          { name: 'Calls of', value: whose(standing) },
          { name: 'Used', value: `${used} of ${calls}` },
        ]}
      />
      <p>Calls that run already go on. The next one waits for an approval again.</p>
      <TextArea
        label="Reason (optional)"
        value={reason}
        onChange={setReason}
        maxLength={500}
        autoFocus
        description="It stands in the audit."
      />
    </Dialog>
  );
}
