import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { askWith } from '../../data/ask.js';
import { sluice } from '../../data/client.js';
import { queries } from '../../data/queries.js';
import { AttachFiles } from '../../ui/attach-files.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Checkbox, Select, TextArea } from '../../ui/field.js';
import { Note } from '../../ui/states.js';
import { Term } from '../../ui/term.js';
import css from './runs.module.css';

/** What a question is asked with. */
export interface RequestFields {
  readonly question: string;
  /** Null for the group `default`. */
  readonly group: readonly string[] | null;
  readonly state: string | null;
}

interface Props {
  readonly onClose: () => void;
  /** What stands in the form at first: a run’s question, to ask it again. */
  readonly initial?: RequestFields;
}

const sample = 'Which countries border Switzerland, and how do they compare?';
const firstState = 'undefined';

/** Asks a question and goes to its run. */
export function AskDialog({ onClose, initial }: Props) {
  const [question, setQuestion] = useState(initial?.question ?? '');
  const [chosen, setChosen] = useState<readonly string[] | null>(initial?.group ?? null);
  const [state, setState] = useState(initial?.state ?? firstState);
  const [files, setFiles] = useState<readonly File[]>([]);
  const navigate = useNavigate();
  const ask = useMutation({
    mutationFn: askWith,
    onSuccess: async (run) => {
      void queries.invalidateQueries({ queryKey: ['runs'] });
      onClose();
      const place = new URL(run.location, window.location.origin).searchParams;
      const search = { session: run.session_id, since: Number(place.get('since')) || undefined };
      await navigate({ to: '/runs/$requestId', params: { requestId: run.request_id }, search });
    },
  });
  const submit = (event?: FormEvent): void => {
    event?.preventDefault();
    if (question.trim() === '' || ask.isPending) return;
    const request = { question: question.trim(), ...(chosen === null ? {} : { group: chosen }), state };
    ask.mutate({ request, files });
  };
  return (
    <Dialog
      title={initial === undefined ? 'Ask a question' : 'Run again'}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button tone="primary" isDisabled={question.trim() === '' || ask.isPending} onPress={() => submit()}>
            {ask.isPending ? 'Asking …' : 'Ask'}
          </Button>
        </>
      }
    >
      <TextArea label="Question" value={question} onChange={setQuestion} rows={4} autoFocus />
      {question === '' && (
        <div>
          <Button tone="quiet" isSmall onPress={() => setQuestion(sample)}>
            Use the sample question
          </Button>
        </div>
      )}
      <AttachFiles files={files} onChange={setFiles} />
      <Groups chosen={chosen} onChange={setChosen} />
      <States state={state} onChange={setState} />
      {ask.error !== null && <Note tone="bad">{ask.error.message}</Note>}
    </Dialog>
  );
}

interface GroupsProps {
  readonly chosen: readonly string[] | null;
  readonly onChange: (chosen: readonly string[] | null) => void;
}

/** The groups of tools that one may ask for; none chosen is the group `default`. */
function Groups({ chosen, onChange }: GroupsProps) {
  const { data, error } = useQuery({
    queryKey: ['groups'],
    queryFn: ({ signal }) => sluice.groups.list({ signal }),
  });
  const toggle = (name: string, isOn: boolean): void => {
    const next = isOn ? [...(chosen ?? []), name] : (chosen ?? []).filter((each) => each !== name);
    onChange(next.length === 0 ? null : next);
  };
  const names = [...new Set([...(data?.groups.map(({ name }) => name) ?? []), ...(chosen ?? [])])];
  return (
    <fieldset className={css['fieldset']}>
      <legend className={css['legend']}>
        <Term name="group">Groups</Term> of tools
      </legend>
      {error !== null && <Note tone="bad">{error.message}</Note>}
      {names.length > 0 && (
        <div className={css['groups']}>
          {names.map((name) => (
            <Checkbox key={name} isSelected={chosen?.includes(name) === true} onChange={(isOn) => toggle(name, isOn)}>
              {name}
            </Checkbox>
          ))}
        </div>
      )}
      <p className={css['hint']}>
        {chosen === null ? 'Without a choice the request asks for the group default.' : `${chosen.length} chosen`}
      </p>
    </fieldset>
  );
}

interface StatesProps {
  readonly state: string;
  readonly onChange: (state: string) => void;
}

function States({ state, onChange }: StatesProps) {
  const { data } = useQuery({ queryKey: ['states'], queryFn: ({ signal }) => sluice.states.list({ signal }) });
  const names = [...new Set([firstState, ...(data?.states.map(({ name }) => name) ?? []), state])];
  return (
    <Select
      label="State to begin in"
      value={state}
      onChange={onChange}
      options={names.filter((name) => name !== '*').map((name) => ({ value: name, label: name }))}
    />
  );
}
