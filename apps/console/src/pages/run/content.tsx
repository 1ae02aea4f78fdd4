import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ListedContent } from '@sluice/client';
import { sluice } from '../../data/client.js';
import { Button } from '../../ui/button.js';
import { download } from '../../ui/download.js';
import { bytes } from '../../ui/format.js';
import { Card } from '../../ui/page.js';
import { Empty, Loading, Note, RequestProblem } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Tag } from '../../ui/tag.js';
import { Moment } from '../../ui/time.js';
import { queryOf } from './use-run.js';
import type { RunAddress } from './use-run.js';
import css from './run.module.css';

/** Types that are shown: pictures of points. All else, pages and drawings among it, is only downloaded. */
const shown = ['image/gif', 'image/jpeg', 'image/png', 'image/webp'];
/** A larger picture is downloaded. */
const mostShownBytes = 10_000_000;

/** Images, files and long results of the run, with type, size and age. */
export function Content({ place }: { readonly place: RunAddress }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['run', place, 'content'],
    queryFn: ({ signal }) => sluice.runs.listContent(place.requestId, queryOf(place), { signal }),
  });
  if (error !== null && data === undefined) return <RequestProblem error={error} again={() => void refetch()} />;
  if (data === undefined) return <Loading label="Reading what the run has" />;
  if (data.content.length === 0)
    return (
      <Empty title="The run has no content.">
        Images and files of a question and of tools, and long results, stand here.
      </Empty>
    );
  return (
    <Card title="Content of the run" actions={<Button onPress={() => void refetch()}>Read again</Button>}>
      <Table
        label="Content"
        items={data.content}
        keyOf={({ hash }) => hash}
        columns={[
          { id: 'what', name: 'What', cell: (one) => <Named content={one} /> },
          {
            id: 'of',
            name: 'Of',
            cell: ({ tool, iteration }) => (tool === null ? 'the question' : `${tool}, iteration ${String(iteration)}`),
          },
          { id: 'type', name: 'Type', cell: ({ type }) => type },
          { id: 'size', name: 'Size', cell: ({ size }) => bytes(size) },
          {
            id: 'written',
            name: 'Written',
            cell: ({ written_at: at }) => (at === null ? <Tag tone="warn">gone</Tag> : <Moment at={at} />),
          },
          { id: 'read', name: 'Read', cell: (one) => <Read content={one} place={place} /> },
        ]}
      />
    </Card>
  );
}

function Named({ content: { name, kind, hash } }: { readonly content: ListedContent }) {
  return (
    <span title={hash}>
      {kind}
      {name !== null && `: ${name}`}
    </span>
  );
}

/** Shows a picture within the row, and gives all else as a file: nothing of it runs in the page. */
function Read({ content, place }: { readonly content: ListedContent; readonly place: RunAddress }) {
  const [picture, setPicture] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const { hash, type, size, name, kind, is_kept: isKept } = content;
  const isShown = shown.includes(type) && size <= mostShownBytes;
  const read = async (use: (blob: Blob) => Promise<void> | void): Promise<void> => {
    setProblem(null);
    try {
      await use(await sluice.runs.content(place.requestId, hash, queryOf(place)));
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  if (!isKept) return null;
  return (
    <div className={css['content']}>
      {isShown && (
        <Button
          isSmall
          onPress={() =>
            picture === null ? void read(async (blob) => setPicture(await asData(blob, type))) : setPicture(null)
          }
        >
          {picture === null ? 'Show' : 'Hide'}
        </Button>
      )}
      <Button
        isSmall
        onPress={() =>
          void read((blob) => download(name ?? `${kind}-${hash.slice(0, 12)}`, blob, 'application/octet-stream'))
        }
      >
        Download
      </Button>
      {picture !== null && (
        <img className={css['picture']} src={picture} alt={name ?? `An image of the run, ${type}`} />
      )}
      {problem !== null && <Note tone="bad">{problem}</Note>}
    </div>
  );
}

/** As an address of the type that the list says, which is one of `shown`: what the bytes say counts for nothing. */
async function asData(blob: Blob, type: string): Promise<string> {
  const all = new Uint8Array(await blob.arrayBuffer());
  let text = '';
  for (let at = 0; at < all.length; at += 8_192) text += String.fromCharCode(...all.subarray(at, at + 8_192));
  return `data:${type};base64,${btoa(text)}`;
}
