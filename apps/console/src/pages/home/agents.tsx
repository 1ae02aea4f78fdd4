import type { UsageList } from '@sluice/client';
import { Link } from '@tanstack/react-router';
import { count } from '../../ui/format.js';
import { Card } from '../../ui/page.js';
import css from './home.module.css';

/** The runs of today that ended, by the agent that they asked; nothing where they all asked the one that there is. */
export function Agents({ today }: { readonly today: UsageList }) {
  const rows = today.rows.filter(({ name }) => name !== '');
  if (rows.every(({ name }) => name === 'default')) return null;
  return (
    <Card title="By agent today">
      <ul className={css['rows']}>
        {rows.map(({ name, runs, failures }) => (
          <li key={name}>
            <span className={css['number']}>{count(runs ?? 0)}</span>
            <span>
              <Link to="/runs" search={{ agent: name, since: String(today.since) }}>
                {name}
              </Link>
              <span className={css['muted']}>
                {failures === 0 ? 'none without an answer' : `${count(failures)} without an answer`}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
