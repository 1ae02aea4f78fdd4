import type { WaitingApproval } from '@sluice/client';
import { Link } from '@tanstack/react-router';
import { Countdown } from '../../ui/countdown.js';
import { Moment } from '../../ui/time.js';
import css from './approval.module.css';

interface Props {
  readonly waiting: readonly WaitingApproval[];
  readonly selected: string | undefined;
}

/** The calls that wait, the oldest first. */
export function WaitingList({ waiting, selected }: Props) {
  return (
    <ul className={css['list']} aria-label="Calls that wait">
      {waiting.map(({ approval, tool, question, progress }) => {
        const { approval_id: id, arguments: given, requested_by: asker, requested_at: at } = approval;
        return (
          <li key={id}>
            <Link
              from="/approvals"
              to="/approvals"
              search={(before) => ({ ...before, approval: id })}
              className={css['item']}
              activeProps={{}}
              aria-current={id === selected ? 'true' : undefined}
              data-approval={id}
            >
              <span className={css['itemHead']}>
                <strong>{tool.title ?? tool.key}</strong>
                <Countdown until={approval.expires_at} over="Time is up" />
              </span>
              {question !== null && <span className={css['itemQuestion']}>{question}</span>}
              <span className={css['itemArguments']}>
                {tool.key} {given.slice(0, 200)}
              </span>
              <span className={css['muted']}>
                {asker} · <Moment at={at} />
                {progress.still_needed > 1 && ` · ${progress.still_needed} approvals are missing`}
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
