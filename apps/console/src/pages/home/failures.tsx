import type { UsageList } from '@sluice/client';
import { Link } from '@tanstack/react-router';
import { count } from '../../ui/format.js';
import { Card } from '../../ui/page.js';
import css from './home.module.css';

/** Why runs ended without an answer, each code with what it means (docs/errors.md). */
const meanings: Readonly<Record<string, string>> = {
  authz_denied: 'The caller may not ask for these groups, or its credential does not hold.',
  budget_exceeded: 'An agent used up the tokens or the money of its tool.',
  cancelled: 'The caller cancelled it.',
  dead_lettered: 'A record could not be processed: see the dead letters.',
  deadline_exceeded: 'Its time was up before there was an answer.',
  invalid_request: 'The request could not be read.',
  max_iterations: 'It used up its iterations.',
  answer_invalid: 'No answer fits the answer schema.',
  model_failed: 'The model gave no usable turn.',
  record_quarantined: 'A record was not accepted as its own.',
  size_exceeded: 'Its history became too large.',
  span_budget_exceeded: 'A budget per user, tenant or agent had no room for a model call.',
};

/** The runs of today that ended without an answer, by reason; each leads to its runs. */
export function Failures({ today }: { readonly today: UsageList }) {
  const rows = today.rows.filter(({ name }) => name !== 'answer');
  return (
    <Card title="Without an answer today">
      {rows.length === 0 ? (
        <p className={css['muted']}>None: every run that ended today ended with an answer.</p>
      ) : (
        <ul className={css['rows']}>
          {rows.map(({ name, runs }) => (
            <li key={name}>
              <span className={css['number']}>{count(runs ?? 0)}</span>
              <span>
                <Link to="/runs" search={{ outcome: name, since: String(today.since) }}>
                  {name}
                </Link>
                <span className={css['muted']}>{meanings[name] ?? ''}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
