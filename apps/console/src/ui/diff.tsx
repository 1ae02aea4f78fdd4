import { useMemo } from 'react';
import css from './diff.module.css';
import { diffLines } from './line-diff.js';
import type { DiffLine } from './line-diff.js';

interface Props {
  /** Read aloud as its name. */
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

/** Lines that are drawn, at most. */
const mostLines = 1_000;
const signs = { same: ' ', removed: '−', added: '+' } as const;
const words = { same: '', removed: 'removed: ', added: 'added: ' } as const;

/** What differs between two texts, as text. */
export function Diff({ label, before, after }: Props) {
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  return (
    <div className={css['diff']} tabIndex={0} role="region" aria-label={label}>
      {lines.slice(0, mostLines).map((line, place) => (
        <Line key={place} line={line} />
      ))}
      {lines.length > mostLines && <div className={css['skipped']}>and {lines.length - mostLines} more lines</div>}
    </div>
  );
}

function Line({ line }: { readonly line: DiffLine }) {
  if (line.kind === 'skipped')
    return <div className={css['skipped']}>{line.count === 1 ? 'one line' : `${line.count} lines`} as before</div>;
  return (
    <div className={`${css['line']} ${css[line.kind]}`}>
      <span className={css['number']}>{line.line}</span>
      <span aria-hidden="true">{signs[line.kind]}</span>
      <span className={css['text']}>
        <span className="visually-hidden">{words[line.kind]}</span>
        {line.text}
      </span>
    </div>
  );
}
