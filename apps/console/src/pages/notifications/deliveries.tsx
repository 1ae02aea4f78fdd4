import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { DeadDelivery, DeliveryAttempt } from '@sluice/client';
import { deliveriesQuery } from '../../data/subscriptions.js';
import { Card } from '../../ui/page.js';
import { Loading, RequestProblem } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { Moment } from '../../ui/time.js';

/** The latest deliveries of a subscription, and what it did not receive, which can be sent again. */
export function Deliveries({ name }: { readonly name: string }) {
  const found = useQuery(deliveriesQuery(name));
  if (found.isPending) return <Loading label="Loading the deliveries" />;
  if (found.isError) return <RequestProblem error={found.error} again={() => void found.refetch()} />;
  const { attempts, dead_letters: dead } = found.data;
  return (
    <Card title={`Deliveries of ${name}`}>
      {attempts.length === 0 ? (
        <p>Nothing was sent within a week.</p>
      ) : (
        <Table
          label={`Attempts of ${name}`}
          columns={attemptColumns}
          items={attempts}
          keyOf={({ id, at }) => `${id} ${String(at)}`}
        />
      )}
      {dead.length > 0 && (
        <Table label={`Not received by ${name}`} columns={deadColumns} items={dead} keyOf={({ id }) => id} />
      )}
    </Card>
  );
}

const attemptColumns: readonly Column<DeliveryAttempt>[] = [
  { id: 'at', name: 'When', cell: ({ at }) => <Moment at={at} /> },
  { id: 'event', name: 'Event', cell: ({ event }) => event },
  { id: 'subject', name: 'About', isMinor: true, cell: ({ subject }) => subject },
  { id: 'outcome', name: 'Outcome', cell: ({ failure }) => failure ?? 'received' },
];

const deadColumns: readonly Column<DeadDelivery>[] = [
  { id: 'at', name: 'Dead-lettered', cell: ({ failed_at: at }) => <Moment at={at} /> },
  { id: 'code', name: 'Why', cell: ({ code }) => code },
  {
    ...{ id: 'again', name: 'Send again' },
    cell: ({ id }) => (
      <Link to="/dead-letters" search={{ letter: id }}>
        {id}
      </Link>
    ),
  },
];
