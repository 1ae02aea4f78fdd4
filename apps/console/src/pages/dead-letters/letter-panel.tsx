import type { DeadLetter } from '@sluice/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { sluice } from '../../data/client.js';
import { Button } from '../../ui/button.js';
import { Json } from '../../ui/json.js';
import { Card, Facts } from '../../ui/page.js';
import { Loading, Note, RequestProblem } from '../../ui/states.js';
import { Moment } from '../../ui/time.js';
import { RedriveDialog } from './redrive-dialog.js';

/** A dead letter with its record, and what a redrive of it would do. */
export function LetterPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['dead-letters', 'one', id],
    queryFn: ({ signal }) => sluice.deadLetters.get(id, { signal }),
  });
  const [isAsking, setIsAsking] = useState(false);
  if (data === undefined)
    return error === null ? (
      <Loading label="Reading the record" />
    ) : (
      <RequestProblem error={error} again={() => void refetch()} />
    );
  return (
    <Card
      title={data.code}
      actions={
        <>
          {data.redrive.possible && (
            <Button isSmall tone="primary" onPress={() => setIsAsking(true)}>
              Redrive …
            </Button>
          )}
          <Button tone="quiet" isSmall onPress={onClose}>
            Close
          </Button>
        </>
      }
    >
      <Note tone="bad">{data.reason}</Note>
      {data.redriven === null ? (
        <Note tone={data.redrive.possible ? 'note' : 'plain'}>
          <strong>{data.redrive.possible ? 'A redrive: ' : 'No redrive: '}</strong>
          {data.redrive.meaning}
        </Note>
      ) : (
        <Note tone="good">
          <strong>Redriven by {data.redriven.by}</strong> <Moment at={data.redriven.at} />
        </Note>
      )}
      <Facts facts={factsOf(data)} />
      {data.record === null ? (
        <Note tone="warn">The bytes of the record cannot be read: {data.unreadable}</Note>
      ) : (
        <Json label="Record" value={data.record} />
      )}
      <details>
        <summary>Headers, without the credential</summary>
        <Json label="Headers" value={data.headers} />
      </details>
      {isAsking && <RedriveDialog letter={data} onClose={() => setIsAsking(false)} />}
    </Card>
  );
}

function factsOf(letter: DeadLetter) {
  const run = runOf(letter.record);
  const some = [
    { name: 'Dead-lettered', value: <Moment at={letter.failed_at} isExact /> },
    { name: 'On the log since', value: <Moment at={letter.appended_at} isExact /> },
    { name: 'Service', value: letter.service },
    { name: 'Tried', value: letter.attempts === 1 ? 'once' : `${letter.attempts} times` },
    { name: 'Record', value: `${letter.topic}, partition ${letter.partition}, offset ${letter.offset}` },
    letter.session_id !== null && { name: 'Session', value: letter.session_id },
    typeof run === 'string' && {
      name: 'Run',
      value: (
        <Link to="/runs/$requestId" params={{ requestId: run }}>
          {run}
        </Link>
      ),
    },
    { name: 'Dead letter', value: <code>{letter.id}</code> },
  ];
  return some.filter((fact) => fact !== false);
}

/** A request names its run itself, the records after it within `run`. */
function runOf(record: DeadLetter['record']): unknown {
  const within = record?.['run'];
  if (typeof within === 'object' && within !== null && 'request_id' in within) return within.request_id;
  return record?.['request_id'];
}
