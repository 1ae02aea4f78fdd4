import type { AuditEntry } from '@sluice/client';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { sluice } from '../../data/client.js';
import { useLongList } from '../../data/long-list.js';
import { useSignedIn } from '../../session/session-provider.js';
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
import { ProofsDialog } from './proofs-dialog.js';
import { useVerification } from './use-verification.js';
import type { Verification } from './use-verification.js';
import { VerificationCard } from './verification-card.js';

/** What the audit has of the tenant, by filters that stand in the address. */
export function Audit() {
  const { me } = useSignedIn();
  const { entry: open, ...filters } = useSearch({ from: '/audit' });
  const navigate = useNavigate({ from: '/audit' });
  const { items, error, more, again, isReading, hasMore } = useLongList<AuditEntry>(['audit', filters], (signal) =>
    sluice.audit.list({ ...filters, limit: 100 }, { signal }),
  );
  const csv = useMutation({
    mutationFn: () => sluice.audit.csv({ ...filters, limit: 200 }),
    onSuccess: (text) => download('audit.csv', text, 'text/csv'),
  });
  const verification = useVerification();
  const [isProving, setIsProving] = useState(false);
  const opened = items?.find((entry) => keyOf(entry) === open);
  const close = (): void => void navigate({ search: ({ entry: _, ...before }) => before });
  return (
    <Page
      title="Audit"
      summary="Who asked, what was granted and what ran, chained entry by entry."
      actions={
        <>
          {me.is_operator && (
            <>
              <Button tone="primary" isDisabled={isVerifying(verification.state)} onPress={verification.start}>
                Verify
              </Button>
              <Button onPress={() => setIsProving(true)}>Export …</Button>
            </>
          )}
          <Button isDisabled={csv.isPending} onPress={() => csv.mutate()}>
            CSV of the newest 200
          </Button>
          <Button isDisabled={isReading} onPress={again}>
            Refresh
          </Button>
        </>
      }
    >
      {verification.state !== null && (
        <VerificationCard state={verification.state} onStop={verification.stop} onClose={verification.close} />
      )}
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
      {isProving && <ProofsDialog filters={filters} onClose={() => setIsProving(false)} />}
    </Page>
  );
}

function isVerifying(state: Verification | null): boolean {
  return state !== null && state.end === null && state.error === null && !state.isStopped;
}
