import type { AuditEntry } from '@sluice/client';
import { Link } from '@tanstack/react-router';
import type { Column } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { Moment } from '../../ui/time.js';
import { auditKinds } from './search.js';

/** Names an entry: its chain, and its place there. */
export const keyOf = ({ chain, sequence }: AuditEntry): string => `${chain}/${sequence}`;

const good = new Set(['ok', 'answer', 'approve']);

/** A word for how it ended, where the entry has one. */
export function OutcomeTag({ entry: { outcome, authentic } }: { readonly entry: AuditEntry }) {
  return (
    <>
      {outcome !== null && <Tag tone={good.has(outcome) ? 'good' : 'bad'}>{outcome}</Tag>}
      {authentic === false && <Tag tone="bad">not authentic</Tag>}
    </>
  );
}

/** The more is known of an entry, the more columns; while one is open, what its panel says is left out. */
export function auditColumns(open: string | undefined): readonly Column<AuditEntry>[] {
  const all: readonly Column<AuditEntry>[] = [
    {
      id: 'kind',
      name: 'Entry',
      width: 'minmax(130px, 1.2fr)',
      cell: (entry) => (
        <Link
          from="/audit"
          to="/audit"
          search={(before) => ({ ...before, entry: keyOf(entry) })}
          aria-current={keyOf(entry) === open ? 'true' : undefined}
        >
          {auditKinds[entry.kind]}
        </Link>
      ),
    },
    { id: 'tool', name: 'Tool', isMinor: true, cell: ({ tool }) => tool ?? '' },
    {
      id: 'outcome',
      name: 'Outcome',
      width: 'minmax(90px, 1fr)',
      isMinor: true,
      cell: (entry) => <OutcomeTag entry={entry} />,
    },
    { id: 'user', name: 'User', isMinor: true, cell: ({ user }) => user ?? '' },
    { id: 'run', name: 'Run', isMinor: true, cell: (entry) => <RunLink entry={entry} /> },
    { id: 'at', name: 'When', width: '130px', cell: ({ at }) => <Moment at={at} /> },
  ];
  return open === undefined ? all : all.filter(({ id }) => id !== 'run' && id !== 'user');
}

export function RunLink({ entry: { request_id: id, session_id: session } }: { readonly entry: AuditEntry }) {
  if (id === null) return session;
  return (
    <Link to="/runs/$requestId" params={{ requestId: id }}>
      {id}
    </Link>
  );
}
