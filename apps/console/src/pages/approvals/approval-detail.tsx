import type { Approval } from '@sluice/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { oneApproval } from '../../data/approvals.js';
import { useSignedIn } from '../../session/session-provider.js';
import { Countdown } from '../../ui/countdown.js';
import { CopyButton } from '../../ui/json.js';
import { Facts } from '../../ui/page.js';
import { Loading, Note, RequestProblem } from '../../ui/states.js';
import { Tag } from '../../ui/tag.js';
import { Term } from '../../ui/term.js';
import { Moment } from '../../ui/time.js';
import { ArgumentsTable } from './arguments-table.js';
import css from './approval.module.css';
import { Outcome } from './outcome.js';
import { Progress } from './progress.js';
import { StepsBefore } from './steps-before.js';

interface Props {
  readonly id: string;
  /** What can be done with it, at its head: only where it still waits for this person. */
  readonly actions: (approval: Approval) => ReactNode;
}

/** All that an approver needs to decide on a call, and after the decision its outcome. */
export function ApprovalDetail({ id, actions }: Props) {
  const { me } = useSignedIn();
  const { data, error, refetch } = useQuery(oneApproval(id));
  if (data === undefined)
    return error === null ? (
      <Loading label="Reading the call" />
    ) : (
      <RequestProblem error={error} again={() => void refetch()} />
    );
  const { approval, tool, question, decision } = data;
  return (
    <article className={css['detail']}>
      <header className={css['head']}>
        <div className={css['titles']}>
          <h2>
            <code>{tool.key}</code>
          </h2>
          <Tag tone={approval.effect === 'read_only' ? 'plain' : 'warn'}>{approval.effect}</Tag>
          {decision === null && <Countdown until={approval.expires_at} over="Its time is up" />}
        </div>
        <div className={css['actions']}>{decision === null && actions(data)}</div>
      </header>
      <Outcome approval={data} />
      {decision === null && isOwnCall(data, me.user) && (
        <Note tone="warn">
          You asked for this call yourself, so you may refuse it only. Another approver may approve it.
        </Note>
      )}
      <Section title="Arguments">
        <ArgumentsTable value={data.arguments} schema={tool.input_schema} />
      </Section>
      <Section title="Question of the run">
        {question === null ? (
          <p className={css['muted']}>The turn is no longer on the log.</p>
        ) : (
          <p className={css['text']}>{question}</p>
        )}
        {approval.thought !== '' && (
          <p className={css['text']}>
            <span className={css['muted']}>The model’s thought: </span>
            {approval.thought}
          </p>
        )}
      </Section>
      <Section title="What the tool says of itself">
        <p className={css['text']}>{tool.description ?? 'The configuration of then is gone.'}</p>
      </Section>
      <Section title="Why it waits">
        <Facts facts={whyItWaits(data)} />
        <Progress approval={data} />
      </Section>
      <Section title={`Steps before (${data.steps_before.length === 50 ? 'the latest 50' : data.steps_before.length})`}>
        <StepsBefore steps={data.steps_before} />
      </Section>
      <Section title="What the decision is bound to">
        <Facts facts={boundTo(data)} />
      </Section>
    </article>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className={css['section']}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** An approver of several who has approved already may refuse only, too. */
function isOwnCall({ decisions, approval }: Approval, user: string): boolean {
  const isAsker = [approval.requested_by, approval.on_behalf_of].includes(user);
  return isAsker && decisions.includes('refuse') && !decisions.includes('approve');
}

function whyItWaits(details: Approval) {
  const { approval, asked_because: rule, approvers, requester_may_not_approve: notOwn, progress } = details;
  const who = approvers.includes('*') ? 'everybody' : approvers.join(', ');
  const { requested_by: asker, on_behalf_of: subject } = approval;
  return [
    { name: 'Rule', value: rule?.message ?? 'The configuration of then is gone.' },
    { name: 'Asked by', value: subject === null || subject === asker ? asker : `${asker} for ${subject}` },
    { name: 'Asked', value: <Moment at={approval.requested_at} /> },
    { name: 'Until', value: <Moment at={approval.expires_at} isExact /> },
    {
      name: 'What happens then',
      value:
        progress.on_expiry === 'run' ? 'It runs without a decision.' : 'It is refused, and the run goes on without it.',
    },
    { name: 'May decide', value: notOwn ? `${who}; who asked may refuse only` : who },
    {
      name: 'Run',
      value: (
        <Link to="/runs/$requestId" params={{ requestId: approval.request_id }}>
          {approval.request_id}
        </Link>
      ),
    },
  ];
}

function boundTo({ approval }: Approval) {
  const { arguments_hash: hash, config_version: granted, in_force_version: inForce } = approval;
  return [
    { name: 'Holds', value: 'Once, for this call with these arguments. It is no standing rule.' },
    {
      name: 'Arguments',
      value: (
        <span className={css['hash']}>
          <code title={hash}>sha256 {hash.slice(0, 16)}…</code>
          <CopyButton text={hash} />
        </span>
      ),
    },
    {
      name: <Term name="configurationVersion">Configuration</Term>,
      value: (
        <>
          <code>{granted}</code>
          {inForce !== '' && inForce !== granted && (
            <>
              , and may only be denied by <code>{inForce}</code>
            </>
          )}
        </>
      ),
    },
    ...(approval.state === '' ? [] : [{ name: <Term name="state" />, value: <code>{approval.state}</code> }]),
    ...(approval.groups.length === 0
      ? []
      : [{ name: <Term name="group">Groups</Term>, value: approval.groups.join(', ') }]),
    { name: 'If any of it changes', value: 'The call is asked about again before it runs.' },
    { name: 'Call', value: `iteration ${approval.iteration}, call ${approval.index + 1} of its turn` },
    { name: 'Approval', value: <code>{approval.approval_id}</code> },
  ];
}
