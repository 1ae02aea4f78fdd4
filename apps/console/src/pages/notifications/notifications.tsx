import { useQuery } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import type { ReactNode } from 'react';
import type { Subscription } from '@sluice/client';
import { subscriptionsQuery } from '../../data/subscriptions.js';
import { useSignedIn } from '../../session/session-provider.js';
import { Button } from '../../ui/button.js';
import { LongText } from '../../ui/json.js';
import { Card, Page } from '../../ui/page.js';
import { Empty, Loading, RequestProblem } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { ActionDialog } from './action-dialog.js';
import type { Action } from './action-dialog.js';
import { Deliveries } from './deliveries.js';
import css from './notifications.module.css';

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
  const [action, setAction] = useState<Action | null>(null);
  const summary = 'Who is notified of ends, approvals and dead letters: webhooks, Slack and mail.';
  const make = (
    <Button tone="primary" onPress={() => setAction({ kind: 'make' })}>
      Make a subscription
    </Button>
  );
  return (
    <Page title="Notifications" summary={summary} actions={me.is_operator ? make : undefined}>
      {me.is_operator ? (
        <>
          <List act={setAction} />
          {action !== null && <ActionDialog action={action} next={setAction} />}
        </>
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

function List({ act }: { readonly act: (action: Action) => void }) {
  const found = useQuery(subscriptionsQuery());
  const [open, setOpen] = useState<string | null>(null);
  if (found.isPending) return <Loading label="Loading the subscriptions" />;
  if (found.isError) return <RequestProblem error={found.error} again={() => void found.refetch()} />;
  const { subscriptions } = found.data;
  if (subscriptions.length === 0)
    return (
      <Empty title="No one is notified.">
        <p>Make a subscription here, or name a receiver in the configuration:</p>
        <LongText text={sample} label="A sample of a configuration" />
      </Empty>
    );
  return (
    <>
      <Card title="Subscriptions">
        <Table label="Subscriptions" columns={columnsWith(setOpen, act)} items={subscriptions} keyOf={({ id }) => id} />
      </Card>
      {open !== null && <Deliveries key={open} name={open} />}
    </>
  );
}

const kinds = { webhook: 'webhook', slack: 'Slack', mail: 'mail' } as const;

function columnsWith(show: (name: string) => void, act: (action: Action) => void): readonly Column<Subscription>[] {
  return [
    { id: 'name', name: 'Subscription', cell: ({ name }) => <strong>{name}</strong> },
    { id: 'kind', name: 'By', cell: ({ kind, url }) => (url === null ? kinds[kind] : `${kinds[kind]} to ${url}`) },
    { id: 'events', name: 'Events', cell: eventsOf },
    { id: 'whose', name: 'Whose', isMinor: true, cell: whose },
    {
      ...{ id: 'made', name: 'Made', isMinor: true },
      cell: ({ made_by: by, created_by: who }) =>
        by === 'http' ? `over HTTP by ${who ?? ''}` : 'in the configuration',
    },
    { id: 'behind', name: 'Behind', isNumber: true, cell: ({ behind }) => behind ?? '–' },
    {
      ...{ id: 'actions', name: <span className="visually-hidden">What can be done</span> },
      cell: (subscription) => <Actions subscription={subscription} show={show} act={act} />,
    },
  ];
}

function eventsOf({ events }: Subscription): ReactNode {
  return events.map((event, n) => (
    <Fragment key={event}>
      {n > 0 && ', '}
      <span className={css['event']}>{event}</span>
    </Fragment>
  ));
}

function whose({ tenants, agents }: Subscription): string {
  const parts = [
    ...(tenants === null ? [] : [`tenants ${tenants.join(', ')}`]),
    ...(agents === null ? [] : [`agents ${agents.join(', ')}`]),
  ];
  return parts.length === 0 ? 'all' : parts.join('; ');
}

const actions = [
  { kind: 'change', word: 'Change', label: (name: string) => `Change ${name}` },
  { kind: 'renew', word: 'New secret', label: (name: string) => `New secret for ${name}` },
  { kind: 'delete', word: 'Delete', label: (name: string) => `Delete ${name}` },
] as const;

interface ActionsProps {
  readonly subscription: Subscription;
  readonly show: (name: string) => void;
  readonly act: (action: Action) => void;
}

/** Those of the configuration are changed there. */
function Actions({ subscription, show, act }: ActionsProps) {
  const { name, made_by: by } = subscription;
  return (
    <div className={css['actions']}>
      <Button tone="quiet" isSmall aria-label={`Deliveries of ${name}`} onPress={() => show(name)}>
        Deliveries
      </Button>
      {by === 'http' &&
        actions.map(({ kind, word, label }) => (
          <Button key={kind} tone="quiet" isSmall aria-label={label(name)} onPress={() => act({ kind, subscription })}>
            {word}
          </Button>
        ))}
    </div>
  );
}
