import { Button } from '../../../ui/button.js';
import { Note } from '../../../ui/states.js';
import { Tag } from '../../../ui/tag.js';
import type { EditorProblem } from './editor.js';
import css from './what-if.module.css';

const shown = 20;

interface Props {
  readonly problems: readonly EditorProblem[];
  readonly onOpen: (line: number) => void;
}

/** The mistakes and findings of the candidate, each leading to its line. */
export function Problems({ problems, onOpen }: Props) {
  const mistakes = problems.filter(({ severity }) => severity === 'error');
  const found = problems.length - mistakes.length;
  if (problems.length === 0) return <Note tone="good">It has no mistakes, and nothing to find.</Note>;
  return (
    <div className={css['problems']} role="region" aria-label="Problems of the configuration" aria-live="polite">
      <p className={css['about']}>
        {mistakes.length === 0
          ? 'It has no mistakes.'
          : mistakes.length === 1
            ? 'One mistake.'
            : `${mistakes.length} mistakes.`}
        {found > 0 && ` ${found === 1 ? 'One finding' : `${found} findings`}.`}
      </p>
      <ul>
        {problems.slice(0, shown).map(({ line, message, severity }, place) => (
          <li key={place}>
            <Tag tone={severity === 'error' ? 'bad' : 'warn'}>{severity === 'error' ? 'mistake' : 'finding'}</Tag>
            {line !== null && (
              <Button tone="quiet" isSmall onPress={() => onOpen(line)}>
                Line {line}
              </Button>
            )}
            <span>{message}</span>
          </li>
        ))}
      </ul>
      {problems.length > shown && <p className={css['about']}>and {problems.length - shown} more</p>}
    </div>
  );
}
