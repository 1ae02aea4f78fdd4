import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queries } from '../../data/queries.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Note } from '../../ui/states.js';

interface Props<Result> {
  readonly title: string;
  /** The button, and what it says meanwhile. */
  readonly words: readonly [string, string];
  readonly tone: 'primary' | 'bad';
  readonly act: () => Promise<Result>;
  readonly onDone: (result: Result) => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** The step that confirms what is done to a subscription. */
export function ConfirmDialog<Result>({ title, words, tone, act, onDone, onClose, children }: Props<Result>) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: act,
    onSuccess: onDone,
    onSettled: () => queries.invalidateQueries({ queryKey: ['subscriptions'] }),
  });
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{error === null ? 'Not now' : 'Close'}</Button>
          <Button tone={tone} isDisabled={isPending} onPress={() => mutate()}>
            {words[isPending ? 1 : 0]}
          </Button>
        </>
      }
    >
      {error !== null && (
        <Note tone="bad">
          <strong>It was not done.</strong> {error.message}
        </Note>
      )}
      {children}
    </Dialog>
  );
}
