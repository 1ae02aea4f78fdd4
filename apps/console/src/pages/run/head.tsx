import { Link } from '@tanstack/react-router';
import type { ListedRun, Run } from '@sluice/client';
import { outcomeOf } from '../runs/outcome.js';
import { count, money, short } from '../../ui/format.js';
import { LongText } from '../../ui/json.js';
import { Card, Columns, Facts } from '../../ui/page.js';
import { Note } from '../../ui/states.js';
import { Tag } from '../../ui/tag.js';
import { Term } from '../../ui/term.js';
import { Elapsed, Moment } from '../../ui/time.js';
import css from './run.module.css';
import type { RunTimeline } from './timeline/model.js';

interface Props {
  readonly run: Run;
  readonly listed: ListedRun | null;
  readonly timeline: RunTimeline;
}

/** The question, its caller, and the outcome. */
export function Head({ run, listed, timeline }: Props) {
  const isEnded = run.status === 'ended';
  const outcome = outcomeOf({
    status: run.status,
    outcome: isEnded ? (run.error?.code ?? 'answer') : null,
    ...(run.status === 'running' && run.waiting !== undefined ? { waiting: run.waiting } : {}),
  });
  const tokens = run.tokens ?? listed?.tokens;
  const iterations = Math.max(timeline.iterations.size, (isEnded ? run.iterations : listed?.iterations) ?? 0);
  const calls = run.tool_calls?.length ?? 0;
  const endedAt = (isEnded ? run.ended_at : null) ?? listed?.ended_at ?? null;
  return (
    <Columns>
      <Card title="Run">
        <Facts
          facts={[
            { name: 'Status', value: <Tag tone={outcome.tone}>{outcome.text}</Tag> },
            { name: 'Asked by', value: listed === null ? 'not known yet' : <Asker listed={listed} /> },
            {
              name: <Term name="session" />,
              value: (
                <Link to="/runs" search={{ session: run.session_id }}>
                  {run.session_id}
                </Link>
              ),
            },
            {
              name: 'Started',
              value:
                listed === null ? (
                  'not known yet'
                ) : (
                  <>
                    <Moment at={listed.started_at} isExact /> · {isEnded ? 'took' : 'running for'}{' '}
                    <Elapsed from={listed.started_at} to={isEnded ? (endedAt ?? listed.started_at) : null} />
                  </>
                ),
            },
            { name: <Term name="state" />, value: (isEnded ? run.state : listed?.state) ?? 'not known yet' },
            {
              name: <Term name="iteration">Iterations</Term>,
              value: `${count(iterations)} with ${count(calls)} ${calls === 1 ? 'call' : 'calls'}`,
            },
            {
              name: 'Tokens',
              value:
                tokens === undefined
                  ? 'not known yet'
                  : `${short(tokens.input)} read, ${short(tokens.output)} written${tokens.cached > 0 ? `, ${short(tokens.cached)} of those read from a cache` : ''}`,
            },
            ...(listed?.usd == null ? [] : [{ name: 'Cost', value: money(listed.usd * 1e6) }]),
            ...(listed?.model == null ? [] : [{ name: 'Model', value: `${listed.model}${strategyOf(timeline)}` }]),
            ...(listed?.parent == null ? [] : [{ name: 'Called by', value: <ParentLink id={listed.parent} /> }]),
          ]}
        />
      </Card>
      <Card title={!isEnded ? 'So far' : run.error === null ? 'Answer' : 'Error'}>
        <Result run={run} timeline={timeline} />
      </Card>
    </Columns>
  );
}

function Asker({ listed: { user, on_behalf_of: subject } }: { readonly listed: ListedRun }) {
  return (
    <>
      <Link to="/runs" search={{ user }}>
        {user}
      </Link>
      {subject !== null && ` on behalf of ${subject}`}
    </>
  );
}

/** The run that called this one, as an agent. */
function ParentLink({ id }: { readonly id: string }) {
  return (
    <Link to="/runs/$requestId" params={{ requestId: id }} search={{}}>
      {id}
    </Link>
  );
}

/** Which strategy the run works by, where that decided something. */
function strategyOf(timeline: RunTimeline): string {
  for (const { decision } of timeline.iterations.values())
    if (decision !== null) return `, by the strategy ${String(decision['strategy'] ?? '')}`;
  return '';
}

/** The calls that wait for a person. */
function Waits({ timeline }: Pick<Props, 'timeline'>) {
  const open = [...timeline.approvals.values()].filter(({ approval_id: id }) => !timeline.outcomes.has(id));
  return open.map(({ approval_id: approvalId, tool, requested_at: at }) => (
    <Note key={approvalId} tone="warn">
      A call of {tool} waits for an{' '}
      <Link to="/approvals/$approvalId" params={{ approvalId }}>
        approval
      </Link>{' '}
      since <Moment at={at} />.
    </Note>
  ));
}

function Result({ run, timeline }: Pick<Props, 'run' | 'timeline'>) {
  if (run.status === 'running') {
    const texts = [...timeline.iterations.values()].at(-1)?.texts ?? [];
    const soFar = texts.at(-1) ?? '';
    return (
      <>
        {run.waiting !== undefined && (
          <Note tone="warn">
            The model cannot be had since <Moment at={run.waiting.since} />: {run.waiting.reason}. It is asked again.
          </Note>
        )}
        <Waits timeline={timeline} />
        {soFar === '' ? <p>The run goes on.</p> : <Prose text={soFar} label="What the model says" />}
      </>
    );
  }
  const { answer, structured, error, incomplete, partial, confidence } = run;
  return (
    <>
      {error !== null && (
        <Note tone="bad">
          <strong>{error.code}</strong>: {error.message}
        </Note>
      )}
      {incomplete !== null && (
        <Note tone="warn">
          The answer is not whole: {incomplete.reason}
          {incomplete.finish_reason !== '' && ` (the model’s provider said ${incomplete.finish_reason})`}.
        </Note>
      )}
      {partial !== null && <Note tone="warn">A partial answer: {partial}</Note>}
      {structured !== null && <Prose text={indented(structured)} label="Answer" />}
      {structured === null && answer !== null && (
        <Prose text={answer === '' ? 'The answer is empty.' : answer} label="Answer" />
      )}
      {confidence !== null && <p>Confidence {confidence.toFixed(2)} of 1.</p>}
    </>
  );
}

/** JSON over lines, with its numbers as they are written. */
function indented(json: string): string {
  const text = JSON.stringify(JSON.parse(json), null, 2);
  // A number of more digits than the browser keeps would be another one.
  return JSON.stringify(JSON.parse(text)) === json ? text : json;
}

/** Words to be read, in the page’s own type. */
function Prose({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div className={css['prose']}>
      <LongText text={text} label={label} />
    </div>
  );
}
