import { useMemo } from 'react';
import { Link } from '@tanstack/react-router';
import type { EditedArguments, StepQuestion } from '@sluice/client';
import { Button } from '../../../ui/button.js';
import { Json } from '../../../ui/json.js';
import { Facts } from '../../../ui/page.js';
import { Tag } from '../../../ui/tag.js';
import { Term } from '../../../ui/term.js';
import { Moment } from '../../../ui/time.js';
import { originsOf } from '../origins.js';
import type { CallRow } from './row-kinds.js';
import { factsInWords } from './judged-by.js';
import type { CallTimes, RunTimeline } from './model.js';
import css from './timeline.module.css';

interface Props {
  readonly row: CallRow;
  readonly timeline: RunTimeline;
  readonly question: string | null;
  readonly times: CallTimes;
  readonly onOpen: (name: string) => void;
}

/** All that is known of a call. */
export function CallDetails(props: Props) {
  const { call, span, agentRun, tool, depth } = props.row;
  const { result } = call;
  const step = result?.step ?? null;
  const facts = [
    { name: 'Tool', value: <Link to="/tools/$tool" params={{ tool }}>{tool}</Link> }, // prettier-ignore
    ...(step === null
      ? []
      : [
          {
            name: 'Outcome',
            value: (
              <>
                <Tag tone={step.outcome === 'ok' ? 'good' : 'bad'}>{step.outcome}</Tag> {step.reason ?? ''}
              </>
            ),
          },
          {
            name: <Term name="state" />,
            value: step.state === step.state_before ? step.state : `${step.state_before} → ${step.state}`,
          },
        ]),
    ...(step?.rule == null
      ? []
      : [{ name: 'Refused by the rule', value: <Refusal rule={step.rule} of={result?.result} /> }]),
    ...factsInWords(step?.facts ?? {}).map(({ name, value }) => ({ name, value })),
    ...(span === null ? [] : [{ name: 'Began', value: <Moment at={span.from} isExact /> }]),
    ...(agentRun === null
      ? []
      : [
          {
            name: 'Agent',
            value: (
              <Link to="/runs/$requestId" params={{ requestId: agentRun }} search={{}}>
                Its own run
              </Link>
            ),
          },
        ]),
    { name: 'Call', value: <code>{call.id}</code> },
  ];
  return (
    <div className={css['details']}>
      <Facts facts={facts} />
      <h3>Arguments</h3>
      <Json value={call.arguments === '' ? '(none)' : call.arguments} label={`Arguments of ${tool}`} />
      {step?.edited != null && <Edited edited={step.edited} tool={tool} />}
      {depth === 0 && <Origins {...props} />}
      <Questions questions={step?.questions ?? []} />
      <h3>{step !== null && step.outcome !== 'ok' ? 'Error' : 'Result'}</h3>
      {result === null ? (
        <p className={css['quiet']}>{call.progress ?? 'There is no result yet.'}</p>
      ) : (
        <Json value={result.result} label={`Result of ${tool}`} />
      )}
    </div>
  );
}

/** The rule, and the argument that it is about where the refusal names one. */
function Refusal({ rule, of }: { readonly rule: string; readonly of: unknown }) {
  const text = typeof of === 'string' ? of : JSON.stringify(of ?? '');
  const argument = /The argument (\S{1,200}) is out of its bounds/.exec(text)?.[1];
  return (
    <>
      <strong>{rule}</strong>
      {argument !== undefined && (
        <>
          , for the argument <code>{argument}</code>
        </>
      )}
    </>
  );
}

/** What an approver changed the arguments to, with which the call was made. */
function Edited({ edited, tool }: { readonly edited: EditedArguments; readonly tool: string }) {
  return (
    <>
      <h3>Made with, as {edited.edited_by} changed it</h3>
      <Json value={edited.arguments} label={`Changed arguments of ${tool}`} />
    </>
  );
}

const asked: Readonly<Record<string, string>> = {
  elicitation: 'a form for a person',
  sampling: 'the words of a model',
  roots: 'folders',
};

/** What the tool’s server asked in the middle of the call. */
function Questions({ questions }: { readonly questions: readonly StepQuestion[] }) {
  if (questions.length === 0) return null;
  return (
    <>
      <h3>Asked by its server</h3>
      <ul className={css['origins']}>
        {questions.map((one, index) => (
          <li key={index}>
            <code>{one.server}</code> asked for {asked[one.kind] ?? one.kind}
            {one.count > 1 && `, ${one.count} times`}: {one.outcome}
            {one.reason !== null && ` (${one.reason})`}
            {one.by !== null && ` by ${one.by}`}
            {one.input_tokens + one.output_tokens > 0 && `, ${one.input_tokens} + ${one.output_tokens} tokens`}{' '}
            <Moment at={one.ended_at} isExact />
          </li>
        ))}
      </ul>
    </>
  );
}

const mostOrigins = 12;

/** Where the values of the arguments stood before. */
function Origins({ row: { call }, timeline, question, times, onOpen }: Props) {
  const origins = useMemo(() => originsOf(call, timeline, question), [call, call.arguments, timeline, question]);
  if (origins.length === 0) return null;
  return (
    <>
      <h3>Seen before</h3>
      <ul className={css['origins']}>
        {origins.slice(0, mostOrigins).map(({ path, value, from }) => (
          <li key={path}>
            <code>{path === '' ? 'the whole value' : path}</code>{' '}
            <q>{value.length > 60 ? `${value.slice(0, 60)}…` : value}</q> is equal to{' '}
            {from.kind === 'question' ? (
              'words of the question'
            ) : (
              <>
                <code>{from.path === '' ? 'the value' : from.path}</code> in the result of{' '}
                <Button tone="quiet" isSmall onPress={() => onOpen(from.callId)}>
                  {times.get(from.callId)?.tool ?? from.tool}
                </Button>
              </>
            )}
          </li>
        ))}
        {origins.length > mostOrigins && <li>and {origins.length - mostOrigins} more</li>}
      </ul>
    </>
  );
}
