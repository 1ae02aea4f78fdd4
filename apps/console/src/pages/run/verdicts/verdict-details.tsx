import { Link } from '@tanstack/react-router';
import type { ToolVerdict } from '@sluice/client';
import { Card, Facts } from '../../../ui/page.js';
import { Tag } from '../../../ui/tag.js';
import { Term } from '../../../ui/term.js';
import type { MatrixColumn } from './matrix.js';
import css from './verdicts.module.css';

interface Props {
  readonly verdict: ToolVerdict | null;
  readonly column: MatrixColumn | null;
}

/** Why a tool was offered or hidden in an iteration, and what would open it. */
export function VerdictDetails({ verdict, column }: Props) {
  if (verdict === null || column === null)
    return (
      <Card title="Why">
        <p className={css['hint']}>Choose a cell to read why the tool was offered or hidden, and what would open it.</p>
      </Card>
    );
  const { key, title, description, effect, groups, offered, reasons } = verdict;
  const { from, to, iteration } = column;
  return (
    <Card title={title === '' ? key : title}>
      <p>
        <Tag tone={offered ? 'good' : 'warn'}>{offered ? 'offered' : 'hidden'}</Tag>{' '}
        {from === to ? `in iteration ${from}` : `in iterations ${from} to ${to}`}, in the state {iteration.state}
      </p>
      {offered && <p>Nothing hid it: the model could call it.</p>}
      {reasons.length > 0 && (
        <ul className={css['reasons']}>
          {reasons.map(({ code, text, opens }) => (
            <li key={code}>
              <strong>{text}</strong> <code>{code}</code>
              <div className={css['opens']}>{opens}</div>
            </li>
          ))}
        </ul>
      )}
      {description !== '' && <p className={css['hint']}>{description}</p>}
      <Facts
        facts={[
          {
            name: 'Tool',
            value: (
              <Link to="/tools/$tool" params={{ tool: key }}>
                {key}
              </Link>
            ),
          },
          { name: <Term name="effect" />, value: effect ?? 'not known' },
          {
            name: <Term name="group">Groups</Term>,
            value: groups.length === 0 ? 'none that you may ask for' : groups.join(', '),
          },
          { name: 'Asked for', value: iteration.group.length === 0 ? 'no group' : iteration.group.join(', ') },
          { name: <Term name="configurationVersion" />, value: <code>{iteration.config_version}</code> },
        ]}
      />
    </Card>
  );
}
