import type { ListedDeadLetter } from '@sluice/client';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { sluice } from '../../data/client.js';
import { useLongList } from '../../data/long-list.js';
import { useSignedIn } from '../../session/session-provider.js';
import { Button } from '../../ui/button.js';
import { LongListEnd } from '../../ui/long-list-end.js';
import { Page } from '../../ui/page.js';
import { Panes } from '../../ui/panes.js';
import { Empty, Loading, RequestProblem } from '../../ui/states.js';
import { LongTable } from '../../ui/table.js';
import { letterColumns } from './letter-columns.js';
import { LetterFilters } from './letter-filters.js';
import { LetterPanel } from './letter-panel.js';

export function DeadLetters() {
  const { me } = useSignedIn();
  return (
    <Page
      title="Dead letters"
      summary="Records that a service could not handle. Their runs ended with an error; a redrive is another attempt."
    >
      {me.is_operator ? (
        <Letters />
      ) : (
        <Empty title="Dead letters are for operators.">
          <p>
            They may hold what other callers asked. The configuration names operators under{' '}
            <code>identity.operators</code>.
          </p>
        </Empty>
      )}
    </Page>
  );
}

function Letters() {
  const { letter: open, ...filters } = useSearch({ from: '/dead-letters' });
  const navigate = useNavigate({ from: '/dead-letters' });
  const list = useLongList<ListedDeadLetter>(['dead-letters', filters], (signal) =>
    sluice.deadLetters.list({ ...filters, limit: 100 }, { signal }),
  );
  const { items, error, more, again, isReading, hasMore } = list;
  const close = (): void => void navigate({ search: ({ letter: _, ...before }) => before });
  const isFiltered = Object.keys(filters).length > 0;
  if (items === undefined)
    return error === null ? <Loading label="Reading dead letters" /> : <RequestProblem error={error} again={again} />;
  const table =
    items.length === 0 ? (
      <Empty title={isFiltered ? 'No dead letter fits these filters.' : 'There are no dead letters.'}>
        {isFiltered ? (
          <Button onPress={() => void navigate({ search: {} })}>Remove the filters</Button>
        ) : (
          <p>That is how it should be: every record so far was handled.</p>
        )}
      </Empty>
    ) : (
      <LongTable
        label="Dead letters, the newest first"
        columns={letterColumns(open)}
        items={items}
        keyOf={({ id }) => id}
        onEnd={more}
        end={<LongListEnd shown={items.length} hasMore={hasMore} error={error} more={more} />}
      />
    );
  return (
    <>
      <LetterFilters isReading={isReading} onRefresh={again} />
      <Panes
        wide="list"
        label="The dead letter"
        isDetailChosen={open !== undefined}
        onBack={close}
        list={table}
        detail={open === undefined ? null : <LetterPanel key={open} id={open} onClose={close} />}
      />
    </>
  );
}
