import type { DeadLetter } from '@sluice/client';
import { useMutation } from '@tanstack/react-query';
import { sluice } from '../../data/client.js';
import { queries } from '../../data/queries.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Facts } from '../../ui/page.js';
import { Note } from '../../ui/states.js';

/** The step that confirms a redrive: what it writes where, and what happens then. */
export function RedriveDialog({ letter, onClose }: { readonly letter: DeadLetter; readonly onClose: () => void }) {
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: () => sluice.deadLetters.redrive(letter.id),
    onSettled: () => queries.invalidateQueries({ queryKey: ['dead-letters'] }),
  });
  return (
    <Dialog
      title={data === undefined ? 'Redrive this record?' : 'The record is on the log again'}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{data === undefined ? 'Not now' : 'Close'}</Button>
          {data === undefined && (
            <Button tone="primary" isDisabled={isPending} onPress={() => mutate()}>
              {isPending ? 'Redriving …' : 'Redrive it, once'}
            </Button>
          )}
        </>
      }
    >
      {error !== null && (
        <Note tone="bad">
          <strong>It was not redriven.</strong> {error.message}
        </Note>
      )}
      <p>{data === undefined ? letter.redrive.meaning : data.meaning}</p>
      <Facts
        facts={[
          { name: 'Writes to', value: <code>{(data ?? letter.redrive).topic}</code> },
          { name: 'Failed because', value: letter.reason },
          { name: 'How often', value: 'A dead letter can be redriven once.' },
        ]}
      />
    </Dialog>
  );
}
