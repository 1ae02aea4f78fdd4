import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Run } from '@sluice/client';
import { sluice } from '../../data/client.js';
import { queries } from '../../data/queries.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextField } from '../../ui/field.js';
import { Note } from '../../ui/states.js';
import { pathOf } from './use-run.js';
import type { RunAddress } from './use-run.js';

interface Props {
  readonly run: Run;
  readonly place: RunAddress;
  readonly onClose: () => void;
}

export function CancelDialog({ run, place, onClose }: Props) {
  const [reason, setReason] = useState('');
  const cancel = useMutation({
    mutationFn: () => sluice.runs.cancel(pathOf(place), reason.trim() === '' ? {} : { reason: reason.trim() }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['run'] });
      onClose();
    },
  });
  return (
    <Dialog
      title="Cancel the run"
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Let it go on</Button>
          <Button tone="bad" isDisabled={cancel.isPending} onPress={() => cancel.mutate()}>
            {cancel.isPending ? 'Cancelling …' : 'Cancel the run'}
          </Button>
        </>
      }
    >
      <p>No further call begins. A call that runs now is stopped where its tool can be stopped.</p>
      <TextField label="Reason" value={reason} onChange={setReason} maxLength={500} autoFocus />
      {run.status === 'ended' && <Note>The run has ended meanwhile, so nothing is cancelled.</Note>}
      {cancel.error !== null && <Note tone="bad">{cancel.error.message}</Note>}
    </Dialog>
  );
}
