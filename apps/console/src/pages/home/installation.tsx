import type { RoleStatus, SystemStatus } from '@sluice/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { sluice } from '../../data/client.js';
import { count } from '../../ui/format.js';
import { Card } from '../../ui/page.js';
import { Loading, Note, RequestProblem } from '../../ui/states.js';
import type { Column } from '../../ui/table.js';
import { Table } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { Term } from '../../ui/term.js';
import { Moment } from '../../ui/time.js';
import css from './home.module.css';
import { ServerTroubles } from './server-troubles.js';

/** Records that a role may have ahead of it while it keeps up. */
const muchLag = 1_000;

/** How the installation stands, of all tenants: for operators. */
export function Installation() {
  const { data, error, refetch } = useQuery({
    queryKey: ['status'],
    queryFn: ({ signal }) => sluice.status.get({ signal }),
    refetchInterval: 5_000,
  });
  return (
    <Card title="Roles" actions={data !== undefined && <Link to="/servers">Servers</Link>}>
      {data !== undefined ? (
        <>
          <Troubles status={data} />
          <ServerTroubles />
          <Table label="Roles and their lag" columns={columns} items={data.roles} keyOf={({ role }) => role} />
          <p className={css['muted']}>
            {data.config_version === null ? 'No configuration is in force' : <code>{data.config_version}</code>} · seen{' '}
            <Moment at={data.at} />
          </p>
        </>
      ) : error === null ? (
        <Loading label="Asking the roles" />
      ) : (
        <RequestProblem error={error} again={() => void refetch()} />
      )}
    </Card>
  );
}

const columns: readonly Column<RoleStatus>[] = [
  { id: 'role', name: 'Role', cell: ({ role }) => role },
  {
    id: 'lag',
    name: <Term name="lag" />,
    isNumber: true,
    cell: ({ lag }) => (lag === null ? '–' : `${count(lag)} ${lag === 1 ? 'record' : 'records'}`),
  },
  { id: 'how', name: 'Where', cell: (role) => <Where role={role} /> },
];

function Where({ role: { lag, topics, problem } }: { readonly role: RoleStatus }) {
  if (problem !== null) return <Tag tone="bad">{problem}</Tag>;
  if (lag === 0) return <Tag tone="good">up to date</Tag>;
  const behind = topics.filter((topic) => topic.lag > 0).map((topic) => `${topic.topic} ${count(topic.lag)}`);
  return (
    <>
      {(lag ?? 0) >= muchLag && <Tag tone="warn">behind</Tag>} {behind.join(', ')}
    </>
  );
}

/** What an operator has to look at, each with where. */
function Troubles({ status }: { readonly status: SystemStatus }) {
  const { checks, runs, dead_letters: letters } = status;
  const late = runs.overdue_runs[0];
  return (
    <>
      {checks
        .filter(({ ok }) => !ok)
        .map(({ name, said }) => (
          <Note key={name} tone="bad">
            <strong>{name}:</strong> {said}
          </Note>
        ))}
      {runs.overdue > 0 && (
        <Note tone="warn">
          <strong>
            {count(runs.overdue)}
            {runs.overdue_more && ' or more'} {runs.overdue === 1 ? 'run has' : 'runs have'} not ended in time.
          </strong>{' '}
          {late !== undefined && (
            <Link to="/runs/$requestId" params={{ requestId: late.request_id }} search={{ tenant: late.tenant }}>
              The first
            </Link>
          )}
        </Note>
      )}
      {letters.last_day > 0 && (
        <Note tone="warn">
          <strong>
            {count(letters.last_day)} {letters.last_day === 1 ? 'record was' : 'records were'} dead-lettered
          </strong>{' '}
          in the last 24 hours.{' '}
          <Link to="/dead-letters" search={{ since: '24h' }}>
            See why
          </Link>
        </Note>
      )}
    </>
  );
}
