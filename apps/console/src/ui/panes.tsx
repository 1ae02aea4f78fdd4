import type { ReactNode } from 'react';
import { Button } from './button.js';
import css from './panes.module.css';

interface Props {
  /** What one selects from. */
  readonly list: ReactNode;
  /** What is selected; null for nothing, and then the list has all the room. */
  readonly detail: ReactNode | null;
  /** Read aloud as the name of the second pane. */
  readonly label: string;
  /** On narrow screens one pane is shown: whether that is the detail. */
  readonly isDetailChosen: boolean;
  readonly onBack: () => void;
  /** Which pane is the wider one. */
  readonly wide?: 'list' | 'detail';
}

/** A list, and beside it what is selected there; one of the two where there is no room for both. */
export function Panes({ list, detail, label, isDetailChosen, onBack, wide = 'detail' }: Props) {
  if (detail === null) return list;
  return (
    <div
      className={`${css['panes']} ${css[`${wide}Wide`]} ${isDetailChosen ? css['chosen'] : ''}`}
      data-chosen={isDetailChosen}
    >
      <div className={css['list']}>{list}</div>
      <section className={css['detail']} aria-label={label}>
        <div className={css['back']}>
          <Button isSmall onPress={onBack}>
            ← Back to the list
          </Button>
        </div>
        {detail}
      </section>
    </div>
  );
}
