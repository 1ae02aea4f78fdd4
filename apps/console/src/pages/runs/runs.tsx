import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { UIEvent } from 'react';
import { useSignedIn } from '../../session/session-provider.js';
import { Button } from '../../ui/button.js';
import { Command } from '../../ui/json.js';
import { Page } from '../../ui/page.js';
import { Empty, Loading, RequestProblem } from '../../ui/states.js';
import { LongTable } from '../../ui/table.js';
import { Term } from '../../ui/term.js';
import { AskDialog } from './ask-dialog.js';
import { columnsFor } from './columns.js';
import { Filters } from './filters.js';
import type { RunFilters } from './search.js';
import css from './runs.module.css';
import { useRuns } from './use-runs.js';

/** Every run that one may see, as it is now. */
export function Runs() {
  const { me } = useSignedIn();
  const filters = useSearch({ from: '/runs' });
  const navigate = useNavigate();
  const [isAsking, setIsAsking] = useState(false);
  return (
    <Page
      title="Runs"
      summary={
        <>
          Every <Term name="run">run</Term> of your tenant, the newest first, as it is now.
        </>
      }
      actions={
        <Button tone="primary" onPress={() => setIsAsking(true)}>
          Ask a question
        </Button>
      }
    >
      <Filters
        filters={filters}
        isOperator={me.is_operator}
        onChange={(search) => void navigate({ to: '/runs', search })}
      />
      <RunList key={JSON.stringify(filters)} filters={filters} onAsk={() => setIsAsking(true)} />
      {isAsking && <AskDialog onClose={() => setIsAsking(false)} />}
    </Page>
  );
}

interface ListProps {
  readonly filters: RunFilters;
  readonly onAsk: () => void;
}

function RunList({ filters, onAsk }: ListProps) {
  const { me } = useSignedIn();
  const [isAtTop, setIsAtTop] = useState(true);
  const [isPointed, setIsPointed] = useState(false);
  const { runs, waiting, showNew, more, hasMore, isLoading, error, again } = useRuns(filters, isAtTop && !isPointed);
  if (error !== null) return <RequestProblem error={error} again={again} />;
  if (isLoading) return <Loading label="Reading the runs" />;
  if (runs.length === 0) return <NoRuns isFiltered={Object.keys(filters).length > 0} onAsk={onAsk} />;
  const onScroll = (event: UIEvent): void => setIsAtTop((event.target as HTMLElement).scrollTop < 8);
  return (
    <div
      className={css['list']}
      onScrollCapture={onScroll}
      onPointerEnter={() => setIsPointed(true)}
      onPointerLeave={() => setIsPointed(false)}
    >
      {waiting > 0 && (
        <div className={css['fresh']} role="status">
          <Button isSmall tone="primary" onPress={showNew}>
            {waiting === 1 ? '1 new run' : `${waiting >= 100 ? '100 or more' : waiting} new runs`}
          </Button>
        </div>
      )}
      <LongTable
        label="Runs"
        columns={columnsFor(me.is_operator, runs, filters)}
        items={runs}
        keyOf={({ request_id: id }) => id}
        onEnd={more}
        end={hasMore ? 'Reading more …' : `${runs.length === 1 ? 'That is the one run' : 'That is all'} that there is.`}
      />
    </div>
  );
}

interface NoRunsProps {
  readonly isFiltered: boolean;
  readonly onAsk: () => void;
}

function NoRuns({ isFiltered, onAsk }: NoRunsProps) {
  if (isFiltered) return <Empty title="No run matches these filters.">Clear a filter, or widen the time.</Empty>;
  return (
    <Empty title="There are no runs yet.">
      <p>A run begins with a question. Ask one here, over HTTP, on Kafka or from a shell:</p>
      <Command text={'npx sluice ask "What is the capital of Japan?" --group read-only'} />
      <Button tone="primary" onPress={onAsk}>
        Ask a question
      </Button>
    </Empty>
  );
}
