import type { WaitingApproval } from '@sluice/client';
import { Link } from '@tanstack/react-router';
import { Button } from '../../ui/button.js';
import { Countdown } from '../../ui/countdown.js';
import { Moment } from '../../ui/time.js';
import css from './approval.module.css';
import type { Decision } from './decide-dialog.js';
import { keyOf } from './turns.js';
import type { Turn } from './turns.js';

interface Props {
  readonly turns: readonly Turn[];
  readonly selected: string | undefined;
  /** Asks for the confirming step on these calls of one turn. */
  readonly onDecideAll: (decision: Decision, calls: readonly WaitingApproval[]) => void;
}

/** The calls that wait, the oldest first, and those of one turn together. */
export function WaitingList({ turns, selected, onDecideAll }: Props) {
  return (
    <ul className={css['list']} aria-label="Calls that wait">
      {turns.map((turn) => {
        const [first, ...others] = turn;
        return (
          <li key={keyOf(first)}>
            {others.length === 0 ? (
              <WaitingCall waiting={first} selected={selected} />
            ) : (
              <WaitingTurn turn={turn} selected={selected} onDecideAll={onDecideAll} />
            )}
          </li>
        );
      })}
    </ul>
  );
}

interface TurnProps extends Omit<Props, 'turns'> {
  readonly turn: Turn;
}

function WaitingTurn({ turn, selected, onDecideAll }: TurnProps) {
  const open = (decision: Decision): readonly WaitingApproval[] =>
    turn.filter(({ decisions }) => decisions.includes(decision));
  const label = `${turn.length} calls of one turn`;
  return (
    <section className={css['turn']} aria-label={label}>
      <header className={css['turnHead']}>
        <span>{label}</span>
        {(['approve', 'refuse'] as const).map((decision) => {
          const calls = open(decision);
          return calls.length < 2 ? null : (
            <Button key={decision} isSmall onPress={() => onDecideAll(decision, calls)}>
              {decision === 'approve' ? 'Approve all' : 'Refuse all'}
            </Button>
          );
        })}
      </header>
      <ul className={css['calls']}>
        {turn.map((waiting) => (
          <li key={waiting.approval.approval_id}>
            <WaitingCall waiting={waiting} selected={selected} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface CallProps {
  readonly waiting: WaitingApproval;
  readonly selected: string | undefined;
}

function WaitingCall({ waiting: { approval, tool, question, progress }, selected }: CallProps) {
  const { approval_id: id, arguments: given, requested_by: asker, requested_at: at } = approval;
  return (
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
  );
}
