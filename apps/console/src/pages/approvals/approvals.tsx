import { useSignedIn } from '../../session/session-provider.js';
import { Page } from '../../ui/page.js';
import { Empty } from '../../ui/states.js';
import { Inbox } from './inbox.js';

export function Approvals() {
  const { me } = useSignedIn();
  return (
    <Page title="Approvals" summary="Calls that wait until a person has decided on them.">
      {me.is_approver ? (
        <Inbox />
      ) : (
        <Empty title="You decide on no calls.">
          <p>
            The configuration names who may, under <code>policy.approval.approvers</code>. Your own runs that wait say
            so on their pages.
          </p>
        </Empty>
      )}
    </Page>
  );
}
