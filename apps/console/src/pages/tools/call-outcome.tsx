import { Link } from '@tanstack/react-router';
import type { GroupTool } from '@sluice/client';
import { useSignedIn } from '../../session/session-provider.js';
import { Json } from '../../ui/json.js';
import { Loading, Note, RequestProblem } from '../../ui/states.js';
import type { Call } from './use-call.js';

interface Props {
  readonly call: Call;
  readonly tool: GroupTool;
  /** The state that the run starts in. */
  readonly state: string;
}

/** What a dry run or a call came to, in words, with the run’s page. */
export function CallOutcome({ call, tool, state }: Props) {
  const { me } = useSignedIn();
  switch (call.kind) {
    case 'idle':
      return <p>A dry run decides whether the call would be offered, and runs nothing.</p>;
    case 'trying':
      return <Loading label="Deciding" />;
    case 'failed':
      return <RequestProblem error={call.error} />;
    case 'tried':
      return call.isOffered ? (
        <Note tone="good">
          The tool is offered in the state {call.toolset.state} with the groups {call.toolset.group.join(', ')}.{' '}
          {effectSentence(tool)} Its arguments are checked and an approval is asked for when it is called.
        </Note>
      ) : (
        <Note tone="warn">
          The tool is not offered in the state {call.toolset.state} with the groups {call.toolset.group.join(', ')}, so
          a call of it would be refused.{' '}
          {me.is_operator && (
            <Link to="/policy" search={{ tab: 'caller', state, group: call.toolset.group.join(',') }}>
              See which rule hides it
            </Link>
          )}
        </Note>
      );
    case 'calling':
      return (
        <>
          <Loading
            label={call.approvalId === null ? (call.progress ?? 'The call runs') : 'The call waits for an approval'}
          />
          {call.approvalId !== null && (
            <Note tone="warn">
              A person has to approve it.{' '}
              <Link to="/approvals/$approvalId" params={{ approvalId: call.approvalId }}>
                Open the approval
              </Link>
            </Note>
          )}
          <RunLink runId={call.runId} />
        </>
      );
    case 'ended':
      return (
        <>
          {call.error === null && call.isError !== true ? (
            <Note tone="good">The call succeeded.</Note>
          ) : (
            <Note tone="bad">{call.error?.message ?? 'The call failed; its result says why.'}</Note>
          )}
          {(call.result ?? call.answer) !== null && (
            <Json value={call.result ?? call.answer} label={`Result of ${tool.key}`} />
          )}
          <RunLink runId={call.runId} />
        </>
      );
  }
}

function RunLink({ runId }: { readonly runId: string | null }) {
  if (runId === null) return null;
  return (
    <p>
      <Link to="/runs/$requestId" params={{ requestId: runId }}>
        Open the run {runId}
      </Link>
    </p>
  );
}

function effectSentence({ effect }: GroupTool): string {
  switch (effect) {
    case 'read_only':
      return 'A call changes nothing.';
    case 'state_change':
      return 'A call changes something.';
    case 'external_side_effect':
      return 'A call acts on another system.';
    case null:
      return '';
  }
}
