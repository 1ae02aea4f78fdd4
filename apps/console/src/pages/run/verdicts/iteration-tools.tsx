import { useMemo, useState } from 'react';
import type { IterationVerdicts } from '@sluice/client';
import { Button } from '../../../ui/button.js';
import { count } from '../../../ui/format.js';
import { Card, Row } from '../../../ui/page.js';
import { Tag } from '../../../ui/tag.js';
import css from '../run.module.css';
import { matrixOf } from './matrix.js';

interface Props {
  readonly verdicts: readonly IterationVerdicts[] | null;
  /** The iteration of the call that is open; null where none is. */
  readonly at: number | null;
}

const mostTools = 100;

/** The tools of one iteration: what was offered, and why the others were not. */
export function IterationTools({ verdicts, at }: Props) {
  const { columns } = useMemo(() => matrixOf(verdicts ?? []), [verdicts]);
  const [chosen, setChosen] = useState<{ readonly for: number | null; readonly iteration: number } | null>(null);
  const latest = columns.at(-1)?.to ?? 0;
  // Another call that is opened leads to its iteration again.
  const number = chosen !== null && chosen.for === at ? chosen.iteration : (at ?? latest);
  const column = columns.find(({ from, to }) => from <= number && number <= to);
  if (column === undefined) return null;
  const tools = [...(column.verdicts?.values() ?? [])].sort(
    (one, other) => Number(other.offered) - Number(one.offered),
  );
  const go = (iteration: number): void => setChosen({ for: at, iteration });
  return (
    <Card
      title={`Tools in iteration ${count(number)}`}
      actions={
        <Row>
          <Button isSmall aria-label="The iteration before" isDisabled={number <= 1} onPress={() => go(number - 1)}>
            ‹
          </Button>
          <Button isSmall aria-label="The next iteration" isDisabled={number >= latest} onPress={() => go(number + 1)}>
            ›
          </Button>
        </Row>
      }
    >
      {column.verdicts === null && <p className={css['hint']}>The configuration that decided is gone.</p>}
      <ul className={css['tools']} tabIndex={0} aria-label={`Tools in iteration ${number}`}>
        {tools.slice(0, mostTools).map(({ key, title, offered, reasons }) => (
          <li key={key}>
            <code title={title}>{key}</code>
            <Tag tone={offered ? 'good' : 'plain'}>{offered ? 'offered' : (reasons[0]?.code ?? 'hidden')}</Tag>
            {reasons.length > 0 && (
              <span className={css['why']}>{reasons.map(({ text, opens }) => `${text} ${opens}`).join(' ')}</span>
            )}
          </li>
        ))}
        {tools.length > mostTools && <li>{count(tools.length - mostTools)} more</li>}
      </ul>
    </Card>
  );
}
