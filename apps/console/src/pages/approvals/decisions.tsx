import type { DecidedApproval } from '@sluice/client';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Link } from '@tanstack/react-router';
import { sluice } from '../../data/client.js';
import { useLongList } from '../../data/long-list.js';
import { useSignedIn } from '../../session/session-provider.js';
import { LongListEnd } from '../../ui/long-list-end.js';
import { Panes } from '../../ui/panes.js';
import { Empty, Loading, RequestProblem } from '../../ui/states.js';
import { LongTable } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { Moment } from '../../ui/time.js';
import { ApprovalDetail } from './approval-detail.js';
import { decided, toneOf } from './in-words.js';

/** What was decided, by whom and why, the newest first. */
export function Decisions() {
  const { me } = useSignedIn();
  const { approval: open } = useSearch({ from: '/approvals' });
  const navigate = useNavigate({ from: '/approvals' });
  const { items, error, more, again, hasMore } = useLongList<DecidedApproval>(['approvals', 'decided'], (signal) =>
    sluice.approvals.decided({ limit: 100 }, { signal }),
  );
  if (items === undefined)
    return error === null ? <Loading label="Reading the decisions" /> : <RequestProblem error={error} again={again} />;
  if (items.length === 0)
    return (
      <Empty title="Nothing was decided yet.">
        <p>
          Decisions stand here as long as the installation lists runs; the audit keeps them for as long as the log does.
        </p>
      </Empty>
    );
  return (
    <Panes
      wide={open === undefined ? 'list' : 'detail'}
      label="The decision"
      isDetailChosen={open !== undefined}
      onBack={() => void navigate({ search: ({ approval: _, ...before }) => before })}
      list={
        <LongTable
          label="Decisions, the newest first"
          columns={columnsFor(me.user, open)}
          items={items}
          keyOf={({ approval_id: id }) => id}
          onEnd={more}
          end={<LongListEnd shown={items.length} hasMore={hasMore} error={error} more={more} />}
        />
      }
      detail={open === undefined ? null : <ApprovalDetail id={open} actions={() => null} />}
    />
  );
}

/** Beside an open one, only what tells it from the others. */
function columnsFor(user: string, open: string | undefined): readonly Column<DecidedApproval>[] {
  const all: readonly Column<DecidedApproval>[] = [
    {
      id: 'tool',
      name: 'Tool',
      width: 'minmax(120px, 1.2fr)',
      cell: ({ approval_id: id, tool }) => (
        <Link
          from="/approvals"
          to="/approvals"
          search={(before) => ({ ...before, approval: id })}
          aria-current={id === open ? 'true' : undefined}
        >
          {tool ?? id}
        </Link>
      ),
    },
    {
      id: 'decision',
      name: 'Decision',
      width: 'minmax(96px, 150px)',
      cell: ({ decision }) => <Tag tone={toneOf(decision)}>{decided(decision)}</Tag>,
    },
    {
      id: 'by',
      name: 'By',
      isMinor: true,
      cell: ({ decision, decided_by: by, verified }) => (
        <span title={verified ? undefined : 'The ledger keeps decisions for a week; this one is older.'}>
          {decision === 'expire' ? '' : by === user ? 'you' : by}
        </span>
      ),
    },
    { id: 'reason', name: 'Reason', width: 'minmax(0, 2fr)', isMinor: true, cell: ({ reason }) => reason },
    { id: 'asker', name: 'Asked by', isMinor: true, cell: ({ requested_by: asker }) => asker ?? '' },
    { id: 'at', name: 'When', width: '120px', isMinor: true, cell: ({ decided_at: at }) => <Moment at={at} /> },
  ];
  return open === undefined ? all : all.slice(0, 2);
}
