import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { sluice } from '../../../data/client.js';
import { configurationQuery } from '../../../data/configurations.js';
import { Button } from '../../../ui/button.js';
import { Select } from '../../../ui/field.js';
import { Card, Row } from '../../../ui/page.js';
import { Empty, Loading, Note, RequestProblem } from '../../../ui/states.js';
import { Command } from '../../../ui/json.js';
import { Term } from '../../../ui/term.js';
import { setCandidate, useCandidate } from './candidate.js';
import { ConfigurationEditor } from './editor.js';
import type { EditorProblem } from './editor.js';
import { Outcome } from './outcome.js';
import { Problems } from './problems.js';
import { TakeCandidate } from './take.js';
import { useWhatIf } from './use-what-if.js';
import css from './what-if.module.css';

const spans = [
  { value: '1h', label: 'the last hour' },
  { value: '24h', label: 'the last day' },
  { value: '7d', label: 'the last 7 days' },
  { value: '30d', label: 'the last 30 days' },
] as const;

/** Recorded decisions, made again under a configuration that is edited here. */
export function WhatIf() {
  const view = useQuery(configurationQuery());
  if (view.isPending) return <Loading label="Loading the configuration" />;
  if (view.isError) return <RequestProblem error={view.error} again={() => void view.refetch()} />;
  const { text, text_is_whole: isWhole, source, config_version: version } = view.data;
  if (text === null) return <Without source={source} />;
  return <Editing inForce={text} isWhole={isWhole} source={source} version={version} />;
}

interface EditingProps {
  readonly inForce: string;
  readonly isWhole: boolean;
  readonly source: string;
  readonly version: string;
}

function Editing({ inForce, isWhole, source, version }: EditingProps) {
  const { since = '24h', run } = useSearch({ from: '/policy' });
  const navigate = useNavigate({ from: '/policy' });
  const { base, text } = useCandidate(inForce);
  const [problems, setProblems] = useState<readonly EditorProblem[]>([]);
  const [goTo, setGoTo] = useState<{ readonly line: number } | null>(null);
  const check = async (candidate: string): Promise<readonly EditorProblem[]> => {
    const checked = await sluice.configurations.check({ text: candidate });
    const found: readonly EditorProblem[] = [
      ...checked.problems.map(({ line, column, found: there, write }) => ({
        ...{
          line,
          column,
          severity: 'error' as const,
          message: `Found ${there.replace(/[:.\s]+$/, '')}; write ${write}.`,
        },
      })),
      ...checked.findings.map(({ line, column, message }) => ({ line, column, message, severity: 'info' as const })),
    ];
    setProblems(found);
    return found;
  };
  const { state, start, cancel } = useWhatIf();
  const hasMistakes = problems.some(({ severity }) => severity === 'error');
  const isChanged = text !== inForce;
  return (
    <>
      <Card
        title={source}
        actions={
          <Button isSmall isDisabled={!isChanged} onPress={() => setCandidate(null)}>
            Back to what is in force
          </Button>
        }
      >
        <p className={css['about']}>
          Edit the configuration, and see which recorded decisions would be otherwise: a{' '}
          <Term name="whatIf">what-if</Term>. Completion opens with Ctrl+Space.
        </p>
        {!isWhole && (
          <Note tone="warn">
            What may be a secret is hidden in this text as “(hidden)”, so it cannot be applied as it stands.
          </Note>
        )}
        {base !== inForce && <Note tone="warn">What is in force has changed since you began.</Note>}
        <ConfigurationEditor
          label="Configuration"
          text={text}
          onChange={(next) => setCandidate(next === inForce ? null : { base, text: next })}
          check={check}
          goTo={goTo}
        />
        <Problems problems={problems} onOpen={(line) => setGoTo({ line })} />
        <div className={css['run']}>
          <Select
            label="Decisions of"
            value={since}
            onChange={(span) => void navigate({ search: (search) => ({ ...search, since: span }), replace: true })}
            options={spans.some(({ value }) => value === since) ? spans : [...spans, { value: since, label: since }]}
          />
          <Button
            tone="primary"
            isDisabled={hasMistakes || state.kind === 'running'}
            onPress={() => start({ text, since, run: run ?? null })}
          >
            See what would be otherwise
          </Button>
        </div>
        {run !== undefined && (
          <Row>
            <span>Of the run {run} alone.</span>
            <Button isSmall onPress={() => void navigate({ search: ({ run: _, ...search }) => search, replace: true })}>
              Of all runs
            </Button>
          </Row>
        )}
      </Card>
      <Outcome state={state} onCancel={cancel} />
      <TakeCandidate source={source} version={version} inForce={inForce} text={text} isOk={!hasMistakes && isWhole} />
    </>
  );
}

function Without({ source }: { readonly source: string }) {
  return (
    <Empty title="The gateway does not have the file of the configuration in force.">
      <p>
        On a cluster it is where it was applied from ({source}). There, ask what a changed file would decide otherwise:
      </p>
      <Command text="npx sluice replay --config candidate.yaml" />
    </Empty>
  );
}
