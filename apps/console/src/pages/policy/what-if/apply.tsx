import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { sluice } from '../../../data/client.js';
import { queries } from '../../../data/queries.js';
import { session } from '../../../session/session.js';
import { Button } from '../../../ui/button.js';
import { Dialog } from '../../../ui/dialog.js';
import { Diff } from '../../../ui/diff.js';
import { Note, RequestProblem } from '../../../ui/states.js';
import { setCandidate } from './candidate.js';

interface Props {
  /** The text in force, and its version, which this one replaces. */
  readonly inForce: string;
  readonly version: string;
  readonly text: string;
  readonly isDisabled: boolean;
}

/** Puts the candidate in force, once its changes were looked at. */
export function ApplyCandidate({ inForce, version, text, isDisabled }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const apply = useMutation({
    mutationFn: () => sluice.configurations.apply({ text, replaces: version }),
    onSuccess: async () => {
      setIsOpen(false);
      await Promise.all([queries.invalidateQueries(), session.refresh()]);
      setCandidate(null);
    },
  });
  const close = (): void => {
    setIsOpen(false);
    apply.reset();
  };
  return (
    <>
      <Button isDisabled={isDisabled} onPress={() => setIsOpen(true)}>
        Apply it now …
      </Button>
      {apply.isSuccess && (
        <Note tone="good">
          {apply.data.config_version} is in force. Its text is kept in {apply.data.source}.
          {apply.data.note !== null && ` ${apply.data.note}`}
        </Note>
      )}
      <Dialog
        title="Put this configuration in force?"
        isOpen={isOpen}
        onClose={close}
        actions={
          <>
            <Button onPress={close}>Cancel</Button>
            <Button tone="primary" isDisabled={apply.isPending} onPress={() => apply.mutate()}>
              Put it in force
            </Button>
          </>
        }
      >
        <p>It decides about every run from now on, also about the next iterations of runs that go on.</p>
        <Diff label="What changes" before={inForce} after={text} />
        {apply.isError && <RequestProblem error={apply.error} />}
      </Dialog>
    </>
  );
}
