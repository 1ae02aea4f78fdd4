import type { ListedStanding } from '@sluice/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { standingApprovals } from '../../data/approvals.js';
import { useSignedIn } from '../../session/session-provider.js';
import { Button } from '../../ui/button.js';
import { Command } from '../../ui/json.js';
import { Empty, Loading, RequestProblem } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { Moment, useNow } from '../../ui/time.js';
import css from './approval.module.css';
import { GiveStandingDialog } from './give-standing-dialog.js';
import { RevokeStandingDialog } from './revoke-standing-dialog.js';
import { whose } from './whose.js';

/** Approvals of calls to come: those in force and those that ended within a day, with how often each was used. */
export function Standing() {
  const { me } = useSignedIn();
  const now = useNow(10_000);
  const { data, error, refetch } = useQuery(standingApprovals());
  const [isGiving, setGiving] = useState(false);
  const [revoking, setRevoking] = useState<ListedStanding | null>(null);
  if (data === undefined)
    return error === null ? <Loading /> : <RequestProblem error={error} again={() => void refetch()} />;
  return (
    <>
      {me.is_approver && (
        <div>
          <Button onPress={() => setGiving(true)}>Approve calls to come</Button>
        </div>
      )}
      {data.length === 0 ? (
        <Empty title="There is no standing approval.">
          <p>
            An approver may approve calls to come: of one tool, by one user, within bounds, until a time. Such calls run
            without a question.
          </p>
          <Command text="npx sluice approvals standing list" />
        </Empty>
      ) : (
        <Table
          label="Standing approvals, the newest first"
          columns={columnsFor(now, me.is_approver ? setRevoking : null)}
          items={data.toReversed()}
          keyOf={({ standing_id: id }) => id}
        />
      )}
      {isGiving && <GiveStandingDialog onClose={() => setGiving(false)} />}
      {revoking !== null && <RevokeStandingDialog standing={revoking} onClose={() => setRevoking(null)} />}
    </>
  );
}

function columnsFor(
  now: number,
  revoke: ((standing: ListedStanding) => void) | null,
): readonly Column<ListedStanding>[] {
  return [
    { id: 'tool', name: 'Tool', cell: ({ tool, tool_key: key }) => <code title={tool}>{key}</code> },
    { id: 'whose', name: 'Calls of', cell: whose },
    {
      id: 'bounds',
      name: 'Within',
      cell: ({ bounds }) => (bounds === null ? 'any arguments' : <code>{JSON.stringify(bounds)}</code>),
    },
    { id: 'used', name: 'Used', isNumber: true, cell: ({ used, calls }) => `${used} of ${calls}` },
    { id: 'end', name: 'Until', cell: (standing) => <End standing={standing} now={now} /> },
    {
      id: 'by',
      name: 'Given by',
      isMinor: true,
      cell: ({ given_by: by, given_for: person, reason }) => (
        <>
          {person === null ? by : `${by} for ${person}`}
          {reason !== '' && <div className={css['muted']}>{reason}</div>}
        </>
      ),
    },
    ...(revoke === null ? [] : [revokeColumn(now, revoke)]),
  ];
}

function revokeColumn(now: number, revoke: (standing: ListedStanding) => void): Column<ListedStanding> {
  return {
    id: 'revoke',
    name: <span className="visually-hidden">What can be done</span>,
    cell: (standing) =>
      isInForce(standing, now) ? (
        <Button tone="quiet" isSmall onPress={() => revoke(standing)}>
          Revoke
        </Button>
      ) : null,
  };
}

function End({ standing, now }: { readonly standing: ListedStanding; readonly now: number }) {
  const { until, revoked_by: by, revoked_at: at, revoked_because: reason } = standing;
  if (by !== null && at !== null)
    return (
      <>
        <Tag tone="bad">revoked</Tag> by {by} <Moment at={at} />
        {reason !== null && reason !== '' && <div className={css['muted']}>{reason}</div>}
      </>
    );
  if (until <= now) return <Tag>ended</Tag>;
  return (
    <>
      <Moment at={until} isExact /> {standing.used >= standing.calls && <Tag tone="warn">used up</Tag>}
    </>
  );
}

const isInForce = ({ until, revoked_by: by }: ListedStanding, now: number): boolean => by === null && until > now;
