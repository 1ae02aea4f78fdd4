import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import type { IterationVerdicts, ListedRun, Run } from '@sluice/client';
import { asTyped } from '../../data/command-names.js';
import { useSignedIn } from '../../session/session-provider.js';
import { AskDialog } from '../runs/ask-dialog.js';
import type { RequestFields } from '../runs/ask-dialog.js';
import { Button } from '../../ui/button.js';
import { Note } from '../../ui/states.js';
import { CancelDialog } from './cancel-dialog.js';
import { asCommand, asCurl } from './commands.js';
import { downloadRecords } from './records.js';
import css from './run.module.css';
import type { RunAddress } from './use-run.js';

interface Props {
  readonly run: Run;
  readonly listed: ListedRun | null;
  /** What was decided for the first iteration, which says what was asked for. */
  readonly first: IterationVerdicts | null;
  readonly place: RunAddress;
}

/** What one can do with a run. */
export function Actions({ run, listed, first, place }: Props) {
  const { me } = useSignedIn();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'cancel' | 'again' | null>(null);
  const [said, setSaid] = useState<string | null>(null);
  const download = useMutation({ mutationFn: () => downloadRecords(run, place, me.is_operator) });
  const { request_id: requestId } = run;
  const question = listed?.question ?? null;
  const asked: RequestFields | null =
    question === null ? null : { question, group: first?.group ?? null, state: first?.state ?? null };
  const copy = (text: string, what: string): void => {
    navigator.clipboard.writeText(text).then(
      () => setSaid(`${what} is on the clipboard.`),
      () => setSaid('The browser refused to copy.'),
    );
    setTimeout(() => setSaid(null), 4_000);
  };
  const entries = [
    ...(asked === null
      ? []
      : [
          { id: 'curl', name: 'Copy as curl', act: () => copy(asCurl(asked, window.location.origin), 'The request') },
          { id: 'cli', name: 'Copy as a command', act: () => copy(asTyped(asCommand(asked)), 'The command') },
        ]),
    { id: 'id', name: 'Copy the id', act: () => copy(requestId, 'The id') },
    { id: 'records', name: 'Download its records', act: () => download.mutate() },
    {
      id: 'audit',
      name: 'See its audit',
      act: () => void navigate({ to: `/audit?request_id=${encodeURIComponent(requestId)}` }),
    },
    ...(me.is_operator
      ? [
          {
            id: 'what-if',
            name: 'What would another configuration have done?',
            act: () => void navigate({ to: `/policy?tab=what-if&run=${encodeURIComponent(requestId)}` }),
          },
        ]
      : []),
  ];
  return (
    <>
      {run.status === 'running' && listed?.href !== null && (
        <Button tone="bad" onPress={() => setDialog('cancel')}>
          Cancel the run
        </Button>
      )}
      {asked !== null && <Button onPress={() => setDialog('again')}>Run again</Button>}
      <MenuTrigger>
        <Button>
          More <span aria-hidden="true">▾</span>
        </Button>
        <Popover className={css['menu'] ?? ''} placement="bottom end">
          <Menu
            className={css['menuList'] ?? ''}
            onAction={(key) => entries.find(({ id }) => id === key)?.act()}
            aria-label="More that one can do with the run"
          >
            {entries.map(({ id, name }) => (
              <MenuItem key={id} id={id} className={css['menuItem'] ?? ''}>
                {name}
              </MenuItem>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
      {said !== null && <Note tone="good">{said}</Note>}
      {download.isPending && <Note>Reading the records …</Note>}
      {download.error !== null && <Note tone="bad">{download.error.message}</Note>}
      {dialog === 'cancel' && <CancelDialog run={run} place={place} onClose={() => setDialog(null)} />}
      {dialog === 'again' && asked !== null && <AskDialog initial={asked} onClose={() => setDialog(null)} />}
    </>
  );
}
