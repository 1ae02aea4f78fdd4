import type { ListedSchedule } from '@sluice/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { sluice } from '../../data/client.js';
import { queries } from '../../data/queries.js';
import { schedulesQuery } from '../../data/schedules.js';
import { Button } from '../../ui/button.js';
import { LongText } from '../../ui/json.js';
import { Page } from '../../ui/page.js';
import { Empty, Loading, Note, RequestProblem } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { Moment } from '../../ui/time.js';
import { Outcome } from '../runs/outcome.js';

type Action = 'pause' | 'resume' | 'run';

const sample = `schedule:
  morning-report:
    cron: '0 7 * * 1-5'
    time_zone: Europe/Berlin
    question: What happened since yesterday?
    principal: service:reports
    tenant: acme`;

/** The schedules that one may control: when each is due, how its last run ended; paused, and run now. */
export function Schedules() {
  return (
    <Page title="Schedules" summary="Runs that start by themselves at certain times.">
      <List />
    </Page>
  );
}

function List() {
  const found = useQuery(schedulesQuery());
  const { mutate, isPending, error } = useMutation({
    mutationFn: async ({ name, action }: { readonly name: string; readonly action: Action }): Promise<void> => {
      await sluice.schedules[action](name);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['schedules'] }),
  });
  if (found.isPending) return <Loading label="Loading the schedules" />;
  if (found.isError) return <RequestProblem error={found.error} again={() => void found.refetch()} />;
  const { schedules } = found.data;
  if (schedules.length === 0)
    return (
      <Empty title="There is no schedule that you may control.">
        <p>An operator writes one in the configuration, and who may control it:</p>
        <LongText text={sample} label="A sample of a configuration" />
      </Empty>
    );
  return (
    <>
      {error !== null && <Note tone="bad">{error.message}</Note>}
      <Table
        label="Schedules"
        columns={columnsFor(isPending, (name, action) => mutate({ name, action }))}
        items={schedules}
        keyOf={({ name }) => name}
      />
    </>
  );
}

function columnsFor(isBusy: boolean, act: (name: string, action: Action) => void): readonly Column<ListedSchedule>[] {
  return [
    { id: 'name', name: 'Schedule', cell: ({ name }) => <strong>{name}</strong> },
    {
      id: 'cron',
      name: 'When',
      cell: ({ cron, time_zone: zone }) => (
        <>
          <code>{cron}</code> {zone}
        </>
      ),
    },
    { id: 'next', name: 'Next', cell: (schedule) => <Next schedule={schedule} /> },
    { id: 'last', name: 'Last run', cell: (schedule) => <LastRun schedule={schedule} /> },
    { id: 'as', name: 'As', isMinor: true, cell: ({ principal, tenant }) => `${principal} of ${tenant}` },
    {
      id: 'actions',
      name: <span className="visually-hidden">What can be done</span>,
      cell: ({ name, paused_by: by }) => (
        <>
          <Button
            tone="quiet"
            isSmall
            isDisabled={isBusy}
            aria-label={by === null ? `Pause ${name}` : `Resume ${name}`}
            onPress={() => act(name, by === null ? 'pause' : 'resume')}
          >
            {by === null ? 'Pause' : 'Resume'}
          </Button>
          <Button
            tone="quiet"
            isSmall
            isDisabled={isBusy}
            aria-label={`Run ${name} now`}
            onPress={() => act(name, 'run')}
          >
            Run now
          </Button>
        </>
      ),
    },
  ];
}

function Next({ schedule }: { readonly schedule: ListedSchedule }) {
  const { next_due: next, paused_by: by, waiting } = schedule;
  return (
    <>
      {by !== null ? <Tag tone="warn">paused by {by}</Tag> : next === null ? '–' : <Moment at={next} isExact />}
      {waiting > 0 && <div>{waiting} to start</div>}
    </>
  );
}

function LastRun({ schedule: { last_run: last } }: { readonly schedule: ListedSchedule }) {
  if (last === null) return '–';
  const { request_id: requestId, started_at: at, outcome } = last;
  return (
    <>
      <Link to="/runs/$requestId" params={{ requestId }}>
        <Moment at={at} />
      </Link>{' '}
      <Outcome run={{ status: outcome === null ? 'running' : 'ended', outcome }} />
    </>
  );
}
