import type { Subscription } from '@sluice/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { sluice } from '../../data/client.js';
import { queries } from '../../data/queries.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Checkbox, TextField } from '../../ui/field.js';
import { Note } from '../../ui/states.js';
import { changeOf, draftOf, emptyDraft, eventNames, isWhole, newOf, textNames } from './draft.js';
import type { Draft } from './draft.js';
import css from './notifications.module.css';

interface Props {
  /** The one that is changed; null where one is made. */
  readonly changed: Subscription | null;
  readonly onClose: () => void;
  /** Called with what no later answer has. */
  readonly onSecret: (made: { readonly name: string; readonly secret: string }) => void;
}

/** Makes a subscription of webhooks, or changes one that was made over HTTP. */
export function SubscriptionDialog({ changed, onClose, onSecret }: Props) {
  const [draft, setDraft] = useState<Draft>(changed === null ? emptyDraft : draftOf(changed));
  const set = (more: Partial<Draft>): void => setDraft((before) => ({ ...before, ...more }));
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      if (changed === null) return sluice.subscriptions.create(newOf(draft));
      await sluice.subscriptions.change(changed.name, changeOf(draft));
      return null;
    },
    onSuccess: (made) => (made === null ? onClose() : onSecret(made)),
    onSettled: () => queries.invalidateQueries({ queryKey: ['subscriptions'] }),
  });
  const isReady = isWhole(draft) && !isPending;
  const [word, busy] = changed === null ? ['Make it', 'Making …'] : ['Change it', 'Changing …'];
  return (
    <Dialog
      title={changed === null ? 'Make a subscription' : `Change ${changed.name}`}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button tone="primary" isDisabled={!isReady} onPress={() => mutate()}>
            {isPending ? busy : word}
          </Button>
        </>
      }
    >
      {error !== null && (
        <Note tone="bad">
          <strong>{changed === null ? 'It was not made.' : 'It was not changed.'}</strong> {error.message}
        </Note>
      )}
      {changed === null && (
        <TextField
          label="Name"
          value={draft.name}
          onChange={(name) => set({ name })}
          description="1 to 64 letters, digits, _ and -."
          autoFocus
        />
      )}
      <TextField
        label="Address"
        value={draft.url}
        onChange={(url) => set({ url })}
        placeholder="https://hooks.example.org/sluice"
        description="Where webhooks go: https, or a host that notify.private_hosts names."
      />
      <Choice legend="Events" names={eventNames} chosen={draft.events} onChange={(events) => set({ events })} />
      <TextField
        label="Tenants (optional)"
        value={draft.tenants}
        onChange={(tenants) => set({ tenants })}
        description="Whose events, separated by commas; all without."
      />
      <TextField
        label="Agents (optional)"
        value={draft.agents}
        onChange={(agents) => set({ agents })}
        description="Of whose runs, such as default, support; all without."
      />
      <TextField
        label="Outcomes (optional)"
        value={draft.outcomes}
        onChange={(outcomes) => set({ outcomes })}
        description="Such as answer, deadline_exceeded, refuse; all without."
      />
      <Choice
        legend="Sent too, of runs"
        names={textNames}
        chosen={draft.include}
        onChange={(include) => set({ include })}
      />
      <TextField
        label="Tried again for, seconds"
        value={draft.retrySeconds}
        onChange={(retrySeconds) => set({ retrySeconds })}
        inputMode="numeric"
        description="Then a delivery becomes a dead letter. 604800, a week, at most."
      />
    </Dialog>
  );
}

interface ChoiceProps<Name extends string> {
  readonly legend: string;
  readonly names: readonly Name[];
  readonly chosen: readonly Name[];
  readonly onChange: (chosen: readonly Name[]) => void;
}

function Choice<Name extends string>({ legend, names, chosen, onChange }: ChoiceProps<Name>) {
  return (
    <fieldset className={css['choice']}>
      <legend>{legend}</legend>
      {names.map((name) => (
        <Checkbox
          key={name}
          isSelected={chosen.includes(name)}
          onChange={(isOn) => onChange(names.filter((one) => (one === name ? isOn : chosen.includes(one))))}
        >
          {name}
        </Checkbox>
      ))}
    </fieldset>
  );
}
