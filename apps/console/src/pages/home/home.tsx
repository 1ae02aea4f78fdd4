import { Link } from '@tanstack/react-router';
import { useSignedIn } from '../../session/session-provider.js';
import { Columns, Page } from '../../ui/page.js';
import { Loading, RequestProblem } from '../../ui/states.js';
import { LongTable } from '../../ui/table.js';
import { columnsFor } from '../runs/columns.js';
import { Agents } from './agents.js';
import { AskCard } from './ask-card.js';
import { Failures } from './failures.js';
import { Figures } from './figures.js';
import css from './home.module.css';
import { Installation } from './installation.js';
import { useRunsNow, useToday } from './use-home.js';
import { WaitingCard } from './waiting-card.js';

/** Whether all is well, what waits, and where to begin. */
export function Home() {
  const { me } = useSignedIn();
  const { running, latest, error, again } = useRunsNow();
  const { data: today } = useToday('outcome');
  const { data: byAgent } = useToday('agent');
  const isFirst = latest?.length === 0;
  return (
    <Page title="Home">
      <Figures running={running?.length} today={today} />
      <Columns>
        <AskCard isFirst={isFirst} />
        {me.is_approver && <WaitingCard />}
      </Columns>
      {!isFirst && (
        <section className={css['section']}>
          <header className={css['sectionHead']}>
            <h2>Latest runs</h2>
            <Link to="/runs">All runs</Link>
          </header>
          {latest !== undefined ? (
            <LongTable
              label="The latest runs"
              columns={columnsFor(me.is_operator, latest)}
              items={latest}
              keyOf={({ request_id: id }) => id}
            />
          ) : error === null ? (
            <Loading label="Reading the runs" />
          ) : (
            <RequestProblem error={error} again={again} />
          )}
        </section>
      )}
      <Columns>
        {today !== undefined && !isFirst && <Failures today={today} />}
        {byAgent !== undefined && !isFirst && <Agents today={byAgent} />}
        {me.is_operator && <Installation />}
      </Columns>
    </Page>
  );
}
