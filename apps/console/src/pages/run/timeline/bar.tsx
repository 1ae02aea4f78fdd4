import { duration } from '../../../ui/format.js';
import { useNow } from '../../../ui/time.js';
import type { OpenSpan } from './row-kinds.js';
import type { TimeScale } from './scale.js';
import css from './timeline.module.css';

interface Props {
  readonly span: OpenSpan | null;
  readonly scale: TimeScale | null;
  readonly tone: 'iteration' | 'ok' | 'failed' | 'running';
}

/** When something went on, as a bar on the run’s time, and how long. */
export function Bar({ span, scale, tone }: Props) {
  const now = useNow(span !== null && span.to === null ? 500 : null);
  if (span === null || scale === null) return <div className={css['time']} />;
  const to = span.to ?? Math.max(now, span.from);
  const left = scale.at(span.from) * 100;
  const width = Math.max(0.6, scale.at(to) * 100 - left);
  return (
    <div className={css['time']}>
      <div className={css['track']} aria-hidden="true">
        <div
          className={`${css['spanBar']} ${css[`${tone}Bar`]}`}
          style={{ insetInlineStart: `${Math.min(99.4, left)}%`, width: `${width}%` }}
        />
      </div>
      <span className={css['took']}>{duration(to - span.from)}</span>
    </div>
  );
}
