import type { AuditEntry } from '@sluice/client';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMutation } from '@tanstack/react-query';
import { sluice } from '../../data/client.js';
import { useLongList } from '../../data/long-list.js';
import { Button } from '../../ui/button.js';
import { download } from '../../ui/download.js';
import { LongListEnd } from '../../ui/long-list-end.js';
import { Page } from '../../ui/page.js';
import { Panes } from '../../ui/panes.js';
import { Empty, Loading, Note, RequestProblem } from '../../ui/states.js';
import { LongTable } from '../../ui/table.js';
import { auditColumns, keyOf } from './audit-columns.js';
import { AuditFilters } from './audit-filters.js';
import { EntryPanel } from './entry-panel.js';

/** What the audit has of the tenant, by filters that stand in the address. */
export function Audit() {
  const { entry: open, ...filters } = useSearch({ from: '/audit' });
  const navigate = useNavigate({ from: '/audit' });
  const { items, error, more, again, isReading, hasMore } = useLongList<AuditEntry>(['audit', filters], (signal) =>
    sluice.audit.list({ ...filters, limit: 100 }, { signal }),
  );
  const csv = useMutation({
    mutationFn: () => sluice.audit.csv({ ...filters, limit: 200 }),
    onSuccess: (text) => download('audit.csv', text, 'text/csv'),
  });
  const opened = items?.find((entry) => keyOf(entry) === open);
  const close = (): void => void navigate({ search: ({ entry: _, ...before }) => before });
  return (
    <Page
      title="Audit"
      summary="Who asked for what, what was granted and hidden, what ran, and who decided: each entry chained to the one before."
      actions={
        <>
          <Button isDisabled={isReading} onPress={again}>
            Refresh
          </Button>
          <Button isDisabled={csv.isPending} onPress={() => csv.mutate()}>
            CSV of the newest 200
          </Button>
        </>
      }
    >
      <AuditFilters />
      {csv.error !== null && <Note tone="bad">{csv.error.message}</Note>}
      {items === undefined ? (
        error === null ? (
          <Loading label="Reading the audit" />
        ) : (
          <RequestProblem error={error} again={again} />
        )
      ) : items.length === 0 ? (
        <Empty title={Object.keys(filters).length === 0 ? 'There is no entry yet.' : 'No entry fits these filters.'}>
          <p>The audit follows the log, so an entry is there a moment after what it is about.</p>
          {Object.keys(filters).length > 0 && (
            <Button onPress={() => void navigate({ search: {} })}>Remove the filters</Button>
          )}
        </Empty>
      ) : (
        <Panes
          wide="list"
          label="The entry"
          isDetailChosen={opened !== undefined}
          onBack={close}
          list={
            <LongTable
              label="Entries of the audit, the newest first"
              columns={auditColumns(open)}
              items={items}
              keyOf={keyOf}
              onEnd={more}
              end={<LongListEnd shown={items.length} hasMore={hasMore} error={error} more={more} />}
            />
          }
          detail={opened === undefined ? null : <EntryPanel entry={opened} onClose={close} />}
        />
      )}
    </Page>
  );
}
