import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Explanation } from '@sluice/client';
import { Button, ToggleButton } from '../../ui/button.js';
import { count } from '../../ui/format.js';
import { Card, Row } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { Term } from '../../ui/term.js';
import css from './verdicts.module.css';

type Verdict = Explanation['tools'][number];
type Shown = 'all' | 'offered' | 'hidden';

const firstRows = 100;

/** Every tool with its verdict: offered, or hidden with each reason and what would open it. */
export function Verdicts({ tools }: { readonly tools: readonly Verdict[] }) {
  const [shown, setShown] = useState<Shown>('all');
  const [rows, setRows] = useState(firstRows);
  const offered = tools.filter((tool) => tool.offered);
  const found = shown === 'all' ? tools : tools.filter((tool) => tool.offered === (shown === 'offered'));
  const choice = (id: Shown, name: string, size: number) => (
    <ToggleButton isSelected={shown === id} onChange={() => setShown(id)}>
      {name} ({count(size)})
    </ToggleButton>
  );
  return (
    <Card
      title={<Term name="verdict">Verdicts</Term>}
      actions={
        <>
          {choice('all', 'All', tools.length)}
          {choice('offered', 'Offered', offered.length)}
          {choice('hidden', 'Hidden', tools.length - offered.length)}
        </>
      }
    >
      <Table label="Verdicts" columns={columns} items={found.slice(0, rows)} keyOf={({ id }) => id} />
      {found.length === 0 && <p className={css['muted']}>No tool is {shown}.</p>}
      {found.length > rows && (
        <div>
          <Button isSmall onPress={() => setRows(rows + 500)}>
            Show more of {count(found.length)} tools
          </Button>
        </div>
      )}
    </Card>
  );
}

const columns: readonly Column<Verdict>[] = [
  {
    id: 'tool',
    name: 'Tool',
    cell: ({ key }) => (
      <Link to="/tools/$tool" params={{ tool: key }}>
        {key}
      </Link>
    ),
  },
  {
    id: 'verdict',
    name: 'Verdict',
    cell: (tool) => (
      <Row>
        <Tag tone={tool.offered ? 'good' : 'plain'}>{tool.offered ? 'offered' : 'hidden'}</Tag>
        {tool.offered && tool.needs_approval && <Tag tone="warn">needs an approval</Tag>}
        {tool.offered && tool.authorized === false && <Tag tone="bad">not authorized</Tag>}
      </Row>
    ),
  },
  { id: 'why', name: 'Why, and what would open it', cell: (tool) => <Why tool={tool} /> },
];

function Why({ tool: { reasons, depends_on: dependsOn } }: { readonly tool: Verdict }) {
  return (
    <div className={css['reasons']}>
      {reasons.map(({ code, text, opens, rules }) => (
        <div key={code}>
          <p>
            <Tag tone="note">{code.replaceAll('_', ' ')}</Tag> {text}
          </p>
          {rules.map(({ name, words }) => (
            <p key={name} className={css['muted']}>
              Rule “{name}”: {words.join(' ')}
            </p>
          ))}
          <p className={css['opens']}>{opens}</p>
        </div>
      ))}
      {reasons.length === 0 && dependsOn === undefined && <span className={css['muted']}>Nothing hides it.</span>}
      {dependsOn !== undefined && (
        <p className={css['muted']}>With {dependsOn.join(', ')} known, the verdict may be another.</p>
      )}
    </div>
  );
}
