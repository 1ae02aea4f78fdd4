import type { Approval } from '@sluice/client';
import { Link } from '@tanstack/react-router';
import { useSignedIn } from '../../session/session-provider.js';
import { Note } from '../../ui/states.js';
import { Moment } from '../../ui/time.js';
import css from './approval.module.css';
import { decided, toneOf } from './in-words.js';
import { Step } from './steps-before.js';

/** The decision, who made it and why, and the outcome of the call. */
export function Outcome({ approval }: { readonly approval: Approval }) {
  const { me } = useSignedIn();
  const { decision, decided_at: at, call, run_ended: ended, approval: asked } = approval;
  if (decision === null && ended === null) return null;
  const isExpired = decision?.decision === 'expire' || decision?.decision === 'run';
  return (
    <div className={css['outcome']}>
      {decision !== null && (
        <Note tone={toneOf(decision.decision)}>
          <strong>
            {isExpired ? timeWasUp(decision.decision) : sentenceCase(decided(decision.decision))}
            {!isExpired && ` by ${decision.decided_by === me.user ? 'you' : decision.decided_by}`}
          </strong>
          {at !== null && (
            <>
              {' '}
              <Moment at={at} />
            </>
          )}
          {decision.reason !== '' && <p className={css['text']}>{decision.reason}</p>}
        </Note>
      )}
      {call !== null && <Step step={call} />}
      {decision !== null && call === null && ended === null && (
        <p className={css['muted']} role="status">
          The run goes on; the outcome of the call is not there yet.
        </p>
      )}
      {ended !== null && (
        <p>
          The run ended without a result of this call: <code>{ended}</code>.
        </p>
      )}
      <p>
        <Link to="/runs/$requestId" params={{ requestId: asked.request_id }}>
          Open the run
        </Link>
      </p>
    </div>
  );
}

const timeWasUp = (decision: string): string =>
  decision === 'run' ? 'Not decided in time, so it ran as its rule says' : 'Not decided in time';

function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
