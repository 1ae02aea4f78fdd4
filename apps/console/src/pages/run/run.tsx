import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Run } from '@sluice/client';
import { Page } from '../../ui/page.js';
import { Loading, RequestProblem } from '../../ui/states.js';
import { Tabs } from '../../ui/tabs.js';
import { Actions } from './actions.js';
import { Budgets } from './budgets.js';
import { Content } from './content.js';
import { Head } from './head.js';
import type { RunSearch } from './search.js';
import { StatesCard } from './states/states-card.js';
import { Timeline } from './timeline/timeline.js';
import { addressOf, useFollowed, useListed, useRun, useVerdicts } from './use-run.js';
import css from './run.module.css';
import { useIsWide } from './use-is-wide.js';
import { IterationTools } from './verdicts/iteration-tools.js';
import { Verdicts } from './verdicts/verdicts.js';

/** One run: what was asked, what happened, and why it could happen so. */
export function RunPage() {
  const { requestId } = useParams({ from: '/runs/$requestId' });
  const search = useSearch({ from: '/runs/$requestId' });
  const run = useRun(addressOf(requestId, search));
  if (run.data === undefined)
    return (
      <Page title="Run" summary={requestId}>
        {run.error === null ? (
          <Loading label="Reading the run" />
        ) : (
          <RequestProblem error={run.error} again={() => void run.refetch()} />
        )}
      </Page>
    );
  return <ReadRun key={requestId} run={run.data} search={search} />;
}

interface Props {
  readonly run: Run;
  readonly search: RunSearch;
}

function ReadRun({ run, search }: Props) {
  const { request_id: requestId } = run;
  const navigate = useNavigate();
  const place = addressOf(requestId, search);
  const listed = useListed(place, run).data ?? null;
  const followed = useFollowed(place);
  const { timeline } = followed;
  const isWide = useIsWide();
  const verdicts = useVerdicts(place, Math.max(timeline.iterations.size, listed?.iterations ?? 0));
  const times = useMemo(() => new Map((run.tool_calls ?? []).map((call) => [call.id, call])), [run.tool_calls]);
  const iterations = verdicts.data?.iterations ?? null;
  const set = (next: Partial<RunSearch>): void =>
    void navigate({
      to: '/runs/$requestId',
      params: { requestId },
      search: { ...search, ...next },
      replace: true,
      resetScroll: false,
    });
  return (
    <Page
      title={listed?.question ?? 'Run'}
      summary={requestId}
      actions={<Actions run={run} listed={listed} first={iterations?.[0] ?? null} place={place} />}
    >
      <Head run={run} listed={listed} timeline={timeline} />
      <Tabs
        label="Parts of the run"
        selected={search.tab ?? 'timeline'}
        onSelect={(tab) => set({ tab: tab === 'timeline' ? undefined : tab })}
        tabs={[
          {
            id: 'timeline',
            name: 'Timeline',
            content: () => (
              <div className={isWide ? css['split'] : ''}>
                <Timeline
                  followed={followed}
                  times={times}
                  verdicts={iterations}
                  endedAt={run.status === 'ended' ? (run.ended_at ?? null) : null}
                  question={listed?.question ?? null}
                  search={search}
                  onSearch={set}
                />
                {isWide && (
                  <div className={css['beside']}>
                    <StatesCard
                      timeline={timeline}
                      revision={followed.revision}
                      verdicts={iterations}
                      times={times}
                      isSmall
                    />
                    <IterationTools
                      verdicts={iterations}
                      at={timeline.calls.get(search.call ?? '')?.iteration ?? null}
                    />
                  </div>
                )}
              </div>
            ),
          },
          { id: 'tools', name: 'Tools at each iteration', content: () => <Verdicts verdicts={verdicts} run={run} /> },
          {
            id: 'states',
            name: 'States',
            content: () => (
              <StatesCard timeline={timeline} revision={followed.revision} verdicts={iterations} times={times} />
            ),
          },
          {
            id: 'budgets',
            name: 'Budgets',
            content: () => <Budgets verdicts={iterations} listed={listed} run={run} timeline={timeline} />,
          },
          { id: 'content', name: 'Content', content: () => <Content place={place} /> },
        ]}
      />
    </Page>
  );
}
