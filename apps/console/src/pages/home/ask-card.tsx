import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { askWith } from '../../data/ask.js';
import { queries } from '../../data/queries.js';
import { groupsQuery, toolsOfGroups } from '../../data/tools.js';
import { AttachFiles } from '../../ui/attach-files.js';
import { Button } from '../../ui/button.js';
import { Checkbox, TextArea } from '../../ui/field.js';
import { Card } from '../../ui/page.js';
import { Note } from '../../ui/states.js';
import { Term } from '../../ui/term.js';
import css from './home.module.css';

/** What the tools of the sample can answer (examples/countries). */
const samples = [
  'Which countries border Switzerland, and how do they compare? Then reset the workflow.',
  'What is the capital of Japan?',
] as const;
const sampleTools = ['knowledge-query', 'complex-analysis'];

/** A question with the groups of tools that may be used; it leads to the page of its run. */
export function AskCard({ isFirst }: { readonly isFirst: boolean }) {
  const groups = useQuery(groupsQuery());
  const [question, setQuestion] = useState('');
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [files, setFiles] = useState<readonly File[]>([]);
  const navigate = useNavigate();
  const ask = useMutation({
    mutationFn: askWith,
    onSuccess: async ({ request_id: requestId, session_id: session, location }) => {
      void queries.invalidateQueries({ queryKey: ['runs'] });
      const since = new URL(location, window.location.origin).searchParams.get('since') ?? undefined;
      await navigate({ to: '/runs/$requestId', params: { requestId }, search: { session, since } });
    },
  });
  const names = groups.data?.groups.map(({ name }) => name) ?? [];
  const chosen = names.filter((name) => !left.has(name));
  const tools = groups.data === undefined ? [] : toolsOfGroups(groups.data).map(({ key }) => key);
  const hasSample = sampleTools.every((key) => tools.includes(key));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (question.trim() !== '' && !ask.isPending)
      ask.mutate({ request: { question: question.trim(), group: chosen }, files });
  };
  return (
    <Card title={isFirst ? 'Ask the first question' : 'Ask a question'}>
      {isFirst && (
        <p className={css['muted']}>
          A run begins with a question. Each step of it is on the log, so you can watch it, and see later which tools it
          was offered and why others were hidden.
        </p>
      )}
      <form className={css['ask']} onSubmit={submit}>
        <TextArea
          label="Question"
          isLabelHidden
          value={question}
          onChange={setQuestion}
          rows={2}
          placeholder={hasSample ? `For example: ${samples[0]}` : 'What is to be found out or done'}
        />
        <AttachFiles files={files} onChange={setFiles} />
        {names.length > 0 && (
          <details>
            <summary>
              May use {chosen.length === names.length ? 'all' : `${chosen.length} of`} {names.length} groups of tools
            </summary>
            <div className={css['groups']}>
              {names.map((name) => (
                <Checkbox
                  key={name}
                  isSelected={!left.has(name)}
                  onChange={(isOn) =>
                    setLeft(new Set(isOn ? [...left].filter((each) => each !== name) : [...left, name]))
                  }
                >
                  {name}
                </Checkbox>
              ))}
            </div>
            <p className={css['muted']}>
              A <Term name="group">group</Term> gives no right: the filter decides at each iteration.
            </p>
          </details>
        )}
        <div className={css['askFoot']}>
          <div className={css['samples']}>
            {hasSample &&
              samples.map((sample) => (
                <Button key={sample} isSmall tone="quiet" onPress={() => setQuestion(sample)}>
                  {sample}
                </Button>
              ))}
          </div>
          <Button type="submit" tone="primary" isDisabled={question.trim() === '' || ask.isPending}>
            {ask.isPending ? 'Asking …' : 'Ask'}
          </Button>
        </div>
        {ask.error !== null && <Note tone="bad">{ask.error.message}</Note>}
      </form>
    </Card>
  );
}
