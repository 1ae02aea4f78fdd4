import { ConnectionError } from '@sluice/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { sluice } from '../../data/client.js';
import { queries } from '../../data/queries.js';
import { useSignedIn } from '../../session/session-provider.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Select, TextArea, TextField } from '../../ui/field.js';
import { Note } from '../../ui/states.js';

const hourMs = 3_600_000;
const spans = [
  { value: '1', label: '1 hour' },
  { value: '4', label: '4 hours' },
  { value: '8', label: '8 hours' },
  { value: '24', label: '1 day' },
  { value: '72', label: '3 days' },
] as const;
type Hours = (typeof spans)[number]['value'];

const mostCalls = 1_000;

interface Props {
  readonly onClose: () => void;
  /** What stands in the form at first: the tool and the user of a call that waits. */
  readonly initial?: { readonly tool: string; readonly user: string };
}

/** Approves calls to come: of which tool, by whom, with which arguments, until when and how many. */
export function GiveStandingDialog({ onClose, initial }: Props) {
  const { me, information } = useSignedIn();
  const [tool, setTool] = useState(initial?.tool ?? '');
  const [user, setUser] = useState(initial?.user ?? '');
  const [session, setSession] = useState('');
  const [hours, setHours] = useState<Hours>('1');
  const [bounds, setBounds] = useState('');
  const [calls, setCalls] = useState('100');
  const [reason, setReason] = useState('');
  const isSessionEnough = information.identity === 'none';
  const faults = {
    bounds: boundsFault(bounds),
    calls: /^\d{1,4}$/.test(calls) && Number(calls) >= 1 && Number(calls) <= mostCalls ? null : `1 to ${mostCalls}.`,
  };
  const isWhose = user.trim() !== '' || (isSessionEnough && session.trim() !== '');
  const isWhole = tool.trim() !== '' && isWhose && faults.bounds === null && faults.calls === null;
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: () =>
      sluice.approvals.giveStanding({
        ...{ tool: tool.trim(), user: user.trim(), session_id: session.trim(), calls: Number(calls) },
        ...{ until: Date.now() + Number(hours) * hourMs, reason: reason.trim(), decided_by: me.user },
        ...(bounds.trim() === '' ? {} : { bounds }),
      }),
    onSuccess: ({ status }) => status === 'taken' && onClose(),
    onSettled: () => queries.invalidateQueries({ queryKey: ['approvals'] }),
  });
  const isCut = error instanceof ConnectionError;
  return (
    <Dialog
      title="Approve calls to come"
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{error === null && data === undefined ? 'Not now' : 'Close'}</Button>
          {data === undefined && (
            <Button tone="primary" isDisabled={!isWhole || isPending} onPress={() => mutate()}>
              {isPending ? 'Approving …' : 'Approve them'}
            </Button>
          )}
        </>
      }
    >
      {data !== undefined && (
        <Note>It is on the log. No executor has taken it yet; the list shows it once one does.</Note>
      )}
      {error !== null && (
        <Note tone="bad">
          <strong>{isCut ? 'No answer came.' : 'It does not count.'}</strong> {error.message}{' '}
          {isCut && 'It may have been taken or not: the list says so.'}
        </Note>
      )}
      <TextField label="Tool" value={tool} onChange={setTool} description="Its key, such as send-money." autoFocus />
      <TextField
        label={isSessionEnough ? 'User (or a session)' : 'User'}
        value={user}
        onChange={setUser}
        placeholder="user:ann"
        description="Who makes the calls, or for whom they are made."
      />
      <TextField
        label="Session (optional)"
        value={session}
        onChange={setSession}
        description="In this session alone."
      />
      <TextArea
        label="Bounds of the arguments (optional)"
        value={bounds}
        onChange={setBounds}
        isMono
        placeholder='{"amount": {"maximum": 100}}'
        description="As a rule’s arguments, in JSON. Without them any arguments that the tool takes."
        errorMessage={faults.bounds}
      />
      <Select label="For" value={hours} onChange={setHours} options={spans} />
      <TextField
        label="Calls at most"
        value={calls}
        onChange={setCalls}
        inputMode="numeric"
        errorMessage={faults.calls}
      />
      <p>Such calls run without a question, after all other checks. You may revoke it at any time.</p>
      <TextArea
        label="Reason (optional)"
        value={reason}
        onChange={setReason}
        maxLength={500}
        rows={2}
        description="It stands in the audit."
      />
    </Dialog>
  );
}

/** What of the bounds can be seen to be wrong here; the gateway reads them by the tool’s schema. */
function boundsFault(text: string): string | null {
  if (text.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? null : 'Bounds are an object, as { … }.';
  } catch (error) {
    return `This is no JSON: ${error instanceof Error ? error.message : ''}`;
  }
}
