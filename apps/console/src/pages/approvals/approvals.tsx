import { useNavigate, useSearch } from '@tanstack/react-router';
import { useSignedIn } from '../../session/session-provider.js';
import { Page } from '../../ui/page.js';
import { Empty } from '../../ui/states.js';
import { Tabs } from '../../ui/tabs.js';
import { Decisions } from './decisions.js';
import { Inbox } from './inbox.js';
import { Standing } from './standing.js';

/** The calls that wait for a person, what was decided before, and what is approved of calls to come. */
export function Approvals() {
  const { me } = useSignedIn();
  const { tab = me.is_approver ? 'waiting' : 'history' } = useSearch({ from: '/approvals' });
  const navigate = useNavigate({ from: '/approvals' });
  return (
    <Page title="Approvals" summary="Calls that wait until a person has decided on them.">
      {me.is_approver || me.is_operator ? (
        <Tabs
          label="Approvals"
          selected={tab}
          onSelect={(chosen) => void navigate({ search: { tab: chosen } })}
          tabs={[
            { id: 'waiting', name: 'Waiting', content: () => (me.is_approver ? <Inbox /> : <NoApprover />) },
            { id: 'history', name: 'Decided', content: () => <Decisions /> },
            { id: 'standing', name: 'Standing', content: () => <Standing /> },
          ]}
        />
      ) : (
        <NoApprover />
      )}
    </Page>
  );
}

function NoApprover() {
  return (
    <Empty title="You decide on no calls.">
      <p>
        The configuration names who may, under <code>policy.approval.approvers</code>. Your own runs that wait say so on
        their pages.
      </p>
    </Empty>
  );
}
