import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { waitingApprovals } from '../../data/approvals.js';
import { Countdown } from '../../ui/countdown.js';
import { Card } from '../../ui/page.js';
import css from './home.module.css';

const shown = 3;

/** The calls that wait the longest. */
export function WaitingCard() {
  const { data = [] } = useQuery(waitingApprovals());
  return (
    <Card title="Waits for your decision" actions={data.length > 0 && <Link to="/approvals">All</Link>}>
      {data.length === 0 ? (
        <p className={css['muted']}>Nothing waits. A call that needs an approval is here at once.</p>
      ) : (
        <ul className={css['rows']}>
          {data.slice(0, shown).map(({ approval, tool, question }) => {
            const { approval_id: id, requested_by: asker, expires_at: until } = approval;
            return (
              <li key={id}>
                <span>
                  <Link to="/approvals" search={{ approval: id }} title={tool.key}>
                    {tool.title ?? tool.key}
                  </Link>
                  {question !== null && <span className={css['question']}>{question}</span>}
                  <span className={css['muted']}>asked by {asker}</span>
                </span>
                <Countdown until={until} over="Time is up" />
              </li>
            );
          })}
        </ul>
      )}
    </Card>
  );
}
