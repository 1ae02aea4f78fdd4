import type { ListedDeadLetter } from '@sluice/client';
import { Link } from '@tanstack/react-router';
import type { Column } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { Moment } from '../../ui/time.js';

/** While a letter is open, what its panel says is left out. */
export function letterColumns(open: string | undefined): readonly Column<ListedDeadLetter>[] {
  const all: readonly Column<ListedDeadLetter>[] = [
    {
      id: 'code',
      name: 'Code',
      width: 'minmax(150px, 1fr)',
      cell: ({ id, code }) => (
        <Link
          from="/dead-letters"
          to="/dead-letters"
          search={(before) => ({ ...before, letter: id })}
          aria-current={id === open ? 'true' : undefined}
        >
          {code}
        </Link>
      ),
    },
    {
      id: 'redriven',
      name: 'Redriven',
      width: '100px',
      isMinor: true,
      cell: ({ redriven }) => (redriven === null ? '' : <Tag tone="good">redriven</Tag>),
    },
    { id: 'reason', name: 'Reason', width: 'minmax(0, 3fr)', isMinor: true, cell: ({ reason }) => reason },
    { id: 'service', name: 'Service', width: '90px', isMinor: true, cell: ({ service }) => service },
    { id: 'topic', name: 'Topic', width: '140px', isMinor: true, cell: ({ topic }) => topic },
    { id: 'at', name: 'When', width: '120px', cell: ({ failed_at: at }) => <Moment at={at} /> },
  ];
  return open === undefined ? all : all.filter(({ id }) => id !== 'topic' && id !== 'service');
}
