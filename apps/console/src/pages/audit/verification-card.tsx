import { Button } from '../../ui/button.js';
import { count, dateTime } from '../../ui/format.js';
import { Card } from '../../ui/page.js';
import { Note } from '../../ui/states.js';
import { Elapsed } from '../../ui/time.js';
import css from './audit.module.css';
import { FindingList } from './finding-list.js';
import type { Verification, VerificationEnd } from './use-verification.js';

interface Props {
  readonly state: Verification;
  readonly onStop: () => void;
  readonly onClose: () => void;
}

/** How far a verification is, and what it found. */
export function VerificationCard({ state, onStop, onClose }: Props) {
  const { end, error, isStopped, findings } = state;
  const isOver = end !== null || error !== null || isStopped;
  return (
    <Card
      title="Verification"
      actions={
        <Button isSmall onPress={isOver ? onClose : onStop}>
          {isOver ? 'Close' : 'Stop'}
        </Button>
      }
    >
      {error !== null && (
        <Note tone="bad">
          <strong>The audit was not verified to its end.</strong> {error.message}
        </Note>
      )}
      {isStopped && <Note tone="warn">Stopped. What was read by then proves nothing.</Note>}
      {!isOver && <Progress state={state} />}
      {end !== null && <Result end={end} />}
      {findings.length > 0 && <FindingList findings={findings} found={end?.found ?? findings.length} />}
    </Card>
  );
}

function Progress({ state: { progress, startedAt } }: { readonly state: Verification }) {
  return (
    <div role="status">
      {progress === null
        ? 'Reading the log from its beginning …'
        : `Read ${count(progress.records)} records, ${count(progress.entries)} of them entries of the audit, up to ` +
          `${progress.at === null ? 'its beginning' : dateTime(progress.at)} …`}{' '}
      <Elapsed from={startedAt} to={null} />
    </div>
  );
}

function Result({ end }: { readonly end: VerificationEnd }) {
  const sum = (of: (chain: VerificationEnd['chains'][number]) => number): number =>
    end.chains.reduce((all, chain) => all + of(chain), 0);
  const entries = sum((chain) => chain.entries);
  const beyond = sum((chain) => chain.beyond_last_checkpoint);
  const waiting = sum((chain) => chain.waiting);
  const { compared, gone, not_compared: notCompared } = end.sources;
  return (
    <>
      <Note tone={end.ok ? 'good' : 'bad'}>
        <strong>{sentenceFor(end, entries)}</strong>
      </Note>
      <ul className={css['counted']}>
        <li>
          {entries === 1 ? '1 entry' : `${count(entries)} entries`} in {counted(end.chains.length, 'chain')},{' '}
          {counted(
            sum((chain) => chain.checkpoints),
            'signed checkpoint',
          )}
          .
        </li>
        {typeof compared === 'number' && (
          <li>
            {count(compared)} records were compared with their entries
            {typeof gone === 'number' && gone > 0 && `; ${count(gone)} are no longer on the log`}.
          </li>
        )}
        {typeof notCompared === 'string' && <li>{notCompared}</li>}
        {waiting > 0 && <li>{count(waiting)} records have no entry yet: the audit follows the log.</li>}
        {beyond > 0 && (
          <li>
            {count(beyond)} {beyond === 1 ? 'entry lies' : 'entries lie'} beyond the last checkpoint of a chain: no
            signature vouches for these yet.
          </li>
        )}
      </ul>
    </>
  );
}

function sentenceFor({ ok, found }: VerificationEnd, entries: number): string {
  if (ok) return 'Nothing was changed, dropped, inserted or moved.';
  if (entries === 0) return 'There is no audit here: no chain has entries.';
  return found === 1
    ? 'One thing is not as the audit wrote it.'
    : `${count(found)} things are not as the audit wrote them.`;
}

const counted = (n: number, what: string): string => (n === 1 ? `1 ${what}` : `${count(n)} ${what}s`);
