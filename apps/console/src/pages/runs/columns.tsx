import { Link } from '@tanstack/react-router';
import type { ListedRun } from '@sluice/client';
import { count, money, short } from '../../ui/format.js';
import type { Column } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { Elapsed, Moment } from '../../ui/time.js';
import { Outcome } from './outcome.js';
import type { RunFilters } from './search.js';
import css from './runs.module.css';

/**
 * The columns of the list; an operator reads the runs of others too. That of the agent is left out where all runs asked
 * the one that there is. With it they are no wider than a window of 1280 pixels leaves them.
 */
export const columnsFor = (
  isOperator: boolean,
  runs: readonly ListedRun[],
  { tenant, agent: filter }: RunFilters = {},
): readonly Column<ListedRun>[] =>
  filter !== undefined || runs.some(({ agent }) => agent !== null && agent !== 'default')
    ? allColumns(isOperator, tenant)
    : allColumns(isOperator, tenant).filter(({ id }) => id !== 'agent');

const allColumns = (isOperator: boolean, tenant: string | undefined): readonly Column<ListedRun>[] => [
  {
    id: 'question',
    name: 'Question',
    width: 'minmax(170px, 6fr)',
    cell: (run) => <Question run={run} isReadable={isOperator || run.href !== null} tenant={tenant} />,
  },
  { id: 'outcome', name: 'Status', width: 'minmax(84px, 112px)', cell: (run) => <Outcome run={run} /> },
  {
    id: 'user',
    name: 'User',
    width: 'minmax(60px, 1fr)',
    isMinor: true,
    cell: ({ user, on_behalf_of: subject }) => (
      <span title={subject === null ? user : `${user} on behalf of ${subject}`}>{user.replace(/^user:/, '')}</span>
    ),
  },
  { id: 'agent', name: 'Agent', width: 'minmax(64px, 1fr)', isMinor: true, cell: ({ agent }) => agent ?? '–' },
  { id: 'state', name: 'State', width: 'minmax(76px, 1fr)', isMinor: true, cell: ({ state }) => state },
  {
    id: 'iterations',
    name: 'Iterations',
    width: '72px',
    isNumber: true,
    isMinor: true,
    cell: ({ iterations }) => count(iterations),
  },
  {
    id: 'tokens',
    name: 'Tokens',
    width: '56px',
    isNumber: true,
    isMinor: true,
    cell: ({ tokens: { input, output } }) => (
      <span title={`${count(input)} read, ${count(output)} written`}>{short(input + output)}</span>
    ),
  },
  {
    id: 'cost',
    name: 'Cost',
    width: '60px',
    isNumber: true,
    isMinor: true,
    cell: ({ usd }) => (usd === null ? <span title="No price is configured for its model.">–</span> : money(usd * 1e6)),
  },
  {
    id: 'duration',
    name: 'Duration',
    width: '74px',
    isNumber: true,
    isMinor: true,
    cell: ({ started_at: from, ended_at: to }) => <Elapsed from={from} to={to} />,
  },
  {
    id: 'started',
    name: 'Started',
    width: '112px',
    isNumber: true,
    isMinor: true,
    cell: ({ started_at: at }) => <Moment at={at} />,
  },
];

interface QuestionProps {
  readonly run: ListedRun;
  readonly isReadable: boolean;
  /** Whose runs are listed, where an operator named that. */
  readonly tenant: string | undefined;
}

function Question({ run, isReadable, tenant }: QuestionProps) {
  const text = run.question ?? 'A run of another caller';
  if (!isReadable) return <span className={css['foreign']}>{text}</span>;
  const { request_id: requestId, session_id: session, started_at: startedAt } = run;
  // The run is found by these before the index has it.
  const search = { session, since: sinceOf(run.href) ?? startedAt, tenant };
  return (
    <>
      {run.parent !== null && <Tag>agent</Tag>}{' '}
      <Link to="/runs/$requestId" params={{ requestId }} search={search} title={text}>
        {run.question ?? requestId}
      </Link>
    </>
  );
}

function sinceOf(href: string | null): number | null {
  const since = href === null ? null : new URL(href, window.location.origin).searchParams.get('since');
  return since === null ? null : Number(since);
}
