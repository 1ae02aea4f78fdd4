import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Subscription } from '@sluice/client';
import { subscriptionsQuery } from '../../data/subscriptions.js';
import { useSignedIn } from '../../session/session-provider.js';
import { Button } from '../../ui/button.js';
import { LongText } from '../../ui/json.js';
import { Card, Page } from '../../ui/page.js';
import { Empty, Loading, RequestProblem } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { Deliveries } from './deliveries.js';

const sample = `notify:
  base_url: https://sluice.example.org
  subscriptions:
    desk:
      url: https://hooks.example.org/sluice
      events: [approval.waiting, run.failed]
      secret_env: DESK_WEBHOOK_SECRET`;

/** Who is notified of what, and how that goes. */
export function Notifications() {
  const { me } = useSignedIn();
  const summary = 'Who is notified of ends, approvals and dead letters: webhooks, Slack and mail.';
  return (
    <Page title="Notifications" summary={summary}>
      {me.is_operator ? (
        <List />
      ) : (
        <Empty title="Notifications are for operators.">
          <p>
            The configuration names operators under <code>identity.operators</code>.
          </p>
        </Empty>
      )}
    </Page>
  );
}

function List() {
  const found = useQuery(subscriptionsQuery());
  const [open, setOpen] = useState<string | null>(null);
  if (found.isPending) return <Loading label="Loading the subscriptions" />;
  if (found.isError) return <RequestProblem error={found.error} again={() => void found.refetch()} />;
  const { subscriptions } = found.data;
  if (subscriptions.length === 0)
    return (
      <Empty title="No one is notified.">
        <p>Name a receiver in the configuration, or make one with POST /v1/subscriptions:</p>
        <LongText text={sample} label="A sample of a configuration" />
      </Empty>
    );
  return (
    <>
      <Card title="Subscriptions">
        <Table label="Subscriptions" columns={columnsWith(setOpen)} items={subscriptions} keyOf={({ id }) => id} />
      </Card>
      {open !== null && <Deliveries key={open} name={open} />}
    </>
  );
}

const kinds = { webhook: 'webhook', slack: 'Slack', mail: 'mail' } as const;

function columnsWith(show: (name: string) => void): readonly Column<Subscription>[] {
  return [
    { id: 'name', name: 'Subscription', cell: ({ name }) => <strong>{name}</strong> },
    { id: 'kind', name: 'By', cell: ({ kind, url }) => (url === null ? kinds[kind] : `${kinds[kind]} to ${url}`) },
    { id: 'events', name: 'Events', cell: ({ events }) => events.join(', ') },
    { id: 'tenants', name: 'Tenants', isMinor: true, cell: ({ tenants }) => tenants?.join(', ') ?? 'all' },
    {
      ...{ id: 'made', name: 'Made', isMinor: true },
      cell: ({ made_by: by, created_by: who }) =>
        by === 'http' ? `over HTTP by ${who ?? ''}` : 'in the configuration',
    },
    { id: 'behind', name: 'Behind', isNumber: true, cell: ({ behind }) => behind ?? '–' },
    {
      ...{ id: 'deliveries', name: 'Deliveries' },
      cell: ({ name }) => (
        <Button onPress={() => show(name)} aria-label={`Deliveries of ${name}`}>
          Show
        </Button>
      ),
    },
  ];
}
