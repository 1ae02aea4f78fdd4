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
  switch (call.kind) {
    case 'idle':
      return <p>A dry run says what the call would come to, and runs nothing.</p>;
    case 'trying':
      return <Loading label="Deciding" />;
    case 'failed':
      return <RequestProblem error={call.error} />;
    case 'tried':
      return <Tried {...call} tool={tool} state={state} />;
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

type TriedProps = Omit<Extract<Call, { readonly kind: 'tried' }>, 'kind'> & Pick<Props, 'tool' | 'state'>;

/** What a dry run found. */
function Tried({ tried, toolset, tool, state }: TriedProps) {
  const { me } = useSignedIn();
  const place = `in the state ${toolset.state} with the groups ${toolset.group.join(', ')}`;
  const permitted =
    (tried.authorized === null ? ' Whether you are permitted to make it, the authorizer decides at the call.' : '') +
    (tried.lists.length === 0 ? '' : ` What is on the lists ${tried.lists.join(', ')} is looked up at the call.`);
  switch (tried.outcome) {
    case 'runs':
      return (
        <Note tone="good">
          The tool is offered {place}, its arguments are valid, and the call needs no approval. {effectSentence(tool)}
          {permitted}
        </Note>
      );
    case 'waits':
      return (
        <Note tone="warn">
          The tool is offered {place} and its arguments are valid. The call would wait for an approval
          {tried.approvers === undefined ? '' : ` of ${tried.approvers.join(', ')}`}. {effectSentence(tool)}
          {permitted}
        </Note>
      );
    case 'refused':
      return (
        <Note tone={tried.arguments_valid === false ? 'bad' : 'warn'}>
          The call would be refused{tried.offered ? '' : `: the tool is not offered ${place}`}. {tried.message}{' '}
          {tried.arguments_valid === false && tried.needs_approval === true && 'It would need an approval as well. '}
          {!tried.offered && me.is_operator && (
            <Link to="/policy" search={{ tab: 'caller', state, group: toolset.group.join(',') }}>
              See which rule hides it
            </Link>
          )}
        </Note>
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
