import { useQuery } from '@tanstack/react-query';
import type { ConfigurationChange } from '@sluice/client';
import { differencesQuery } from '../../data/configurations.js';
import { count } from '../../ui/format.js';
import { Loading, Note, RequestProblem } from '../../ui/states.js';
import { Tag } from '../../ui/tag.js';
import css from './differences.module.css';

const tones = { added: 'good', removed: 'bad', changed: 'note' } as const;

/** What a version has otherwise than another one, each with before and after. */
export function Differences({ version, from }: { readonly version: string; readonly from: string | undefined }) {
  const found = useQuery(differencesQuery(version, from));
  if (found.isPending) return <Loading label="Comparing" />;
  if (found.isError) return <RequestProblem error={found.error} again={() => void found.refetch()} />;
  const { changes, from: other, left_out: left } = found.data;
  if (other === null) return <Note>There was none before it, so there is nothing to compare with.</Note>;
  if (changes.length === 0) return <Note>They decide the same: nothing is other than in {other}.</Note>;
  return (
    <>
      <p className={css['muted']}>
        {changes.length === 1 ? 'One change' : `${count(changes.length)} changes`} from <code>{other}</code> to{' '}
        <code>{version}</code>
      </p>
      <ul className={css['changes']}>
        {changes.map((change, place) => (
          <Change key={place} change={change} />
        ))}
      </ul>
      {left > 0 && <Note tone="warn">{count(left)} more changes were left out to keep the answer small.</Note>}
    </>
  );
}

function Change({ change: { kind, name, change, part, before, after } }: { readonly change: ConfigurationChange }) {
  return (
    <li className={css['change']}>
      <div className={css['name']}>
        <Tag tone={tones[change]}>{change}</Tag>
        <span>
          {kind === 'policy' ? '' : `${kind} `}
          <strong>{name}</strong>
          {part !== null && `, ${part}`}
        </span>
      </div>
      {before !== null && (
        <p className={css['before']}>
          <span className="visually-hidden">Before: </span>
          {before}
        </p>
      )}
      {after !== null && (
        <p className={css['after']}>
          <span className="visually-hidden">After: </span>
          {after}
        </p>
      )}
    </li>
  );
}
