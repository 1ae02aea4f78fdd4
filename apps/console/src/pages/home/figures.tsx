import type { UsageList } from '@sluice/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { waitingApprovals } from '../../data/approvals.js';
import { useSignedIn } from '../../session/session-provider.js';
import { count, money, short } from '../../ui/format.js';
import { Figure } from '../../ui/page.js';
import css from './home.module.css';
import { mostCounted } from './use-home.js';

interface Props {
  /** How many runs have not ended; undefined while that is read. */
  readonly running: number | undefined;
  readonly today: UsageList | undefined;
}

const unknown = '–';

/** The few numbers that say whether all is well. */
export function Figures({ running, today }: Props) {
  const { me } = useSignedIn();
  return (
    <div className={css['figures']}>
      <Cell>
        <Figure
          name={
            <Link to="/runs" search={{ outcome: 'running' }}>
              Runs now
            </Link>
          }
          value={running === undefined ? unknown : running === mostCounted ? `${mostCounted} or more` : count(running)}
          note="have not ended"
        />
      </Cell>
      {me.is_approver && <Waiting />}
      <Today today={today} />
    </div>
  );
}

function Waiting() {
  const { data } = useQuery(waitingApprovals());
  return (
    <Cell>
      <Figure
        name={<Link to="/approvals">Waiting approvals</Link>}
        value={data === undefined ? unknown : data.length === 100 ? '100 or more' : count(data.length)}
        note="wait for your decision"
      />
    </Cell>
  );
}

function Today({ today }: { readonly today: UsageList | undefined }) {
  const { runs = 0, failures = 0, tokens = null, usd = null, runs_without_price: unpriced = null } = today?.total ?? {};
  const known = (value: string): string => (today === undefined ? unknown : value);
  const read = tokens?.input ?? 0;
  const written = tokens?.output ?? 0;
  return (
    <>
      <Cell>
        <Figure
          name="Ended today"
          value={known(count(runs ?? 0))}
          note={failures === 0 ? 'runs, none without an answer' : `runs, ${count(failures)} without an answer`}
        />
      </Cell>
      <Cell>
        <Figure
          name="Cost today"
          value={known(usd === null ? '–' : money(usd * 1_000_000))}
          note={costNote(usd, unpriced)}
        />
      </Cell>
      <Cell>
        <Figure
          name="Tokens today"
          value={known(short(read + written))}
          note={`${short(read)} read, ${short(written)} written`}
        />
      </Cell>
    </>
  );
}

function costNote(usd: number | null, unpriced: number | null): string {
  if (usd === null) return 'no price is configured';
  return unpriced ? `US dollars, without ${count(unpriced)} runs of unknown price` : 'US dollars';
}

function Cell({ children }: { readonly children: ReactNode }) {
  return <div className={css['cell']}>{children}</div>;
}
