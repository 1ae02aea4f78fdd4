import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { IterationVerdicts } from '@sluice/client';
import { Button, ToggleButton } from '../../../ui/button.js';
import { count, duration } from '../../../ui/format.js';
import { Row as Line } from '../../../ui/page.js';
import { Empty, Loading, RequestProblem } from '../../../ui/states.js';
import { useNow } from '../../../ui/time.js';
import type { RunSearch } from '../search.js';
import type { Followed } from '../use-run.js';
import type { CallTimes } from './model.js';
import { rowsOf } from './rows.js';
import { TimelineRow } from './row.js';
import css from './timeline.module.css';

interface Props {
  readonly followed: Followed;
  readonly times: CallTimes;
  readonly verdicts: readonly IterationVerdicts[] | null;
  readonly endedAt: number | null;
  readonly question: string | null;
  readonly search: RunSearch;
  readonly onSearch: (search: Partial<RunSearch>) => void;
}

const lineHeight = 35;

/** What happened, row by row. Only rows in view are drawn, so a run of 20,000 calls scrolls as one of ten does. */
export function Timeline({ followed, times, verdicts, endedAt, question, search, onSearch }: Props) {
  const { timeline, revision, error } = followed;
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const onlyFailed = search.failed === true;
  const now = useNow(timeline.end === null && endedAt === null ? 3_000 : null);
  const keys = useMemo(
    () => new Map((verdicts ?? []).flatMap(({ tools }) => (tools ?? []).map(({ id, key }) => [id, key] as const))),
    [verdicts],
  );
  const decidedAt = useMemo(
    () => new Map((verdicts ?? []).map(({ iteration, decided_at: at }) => [iteration, at])),
    [verdicts],
  );
  // The timeline is one object that grows, so its revision says when rows are made again.
  const { rows, scale, failed } = useMemo(
    () => rowsOf({ timeline, times, keys, decidedAt, endedAt, now }, { onlyFailed, folded }),
    [timeline, revision, times, keys, decidedAt, endedAt, now, onlyFailed, folded],
  );
  const scroller = useRef<HTMLDivElement>(null);
  // Another function would have the places of all rows counted again.
  const getItemKey = useCallback((n: number) => rows[n]?.key ?? n, [rows]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    getItemKey,
    overscan: 14,
  });
  const openCall = search.call;
  const openAt = useMemo(
    () => (openCall === undefined ? -1 : rows.findIndex((row) => row.kind === 'call' && row.name === openCall)),
    [rows, openCall],
  );
  // A call that is opened from elsewhere comes into view; one that is opened where it stands stays there.
  const inPlace = useRef<string | null>(null);
  useEffect(() => {
    if (openAt >= 0 && inPlace.current !== openCall) virtual.scrollToIndex(openAt, { align: 'start' });
  }, [openAt >= 0, openCall]);

  if (error !== null) return <RequestProblem error={error} />;
  if (timeline.iterations.size === 0 && timeline.end === null)
    return endedAt === null ? <Loading label="Waiting for the first iteration" /> : <Loading label="Reading the run" />;

  const isAllFolded = folded.size > 0 && folded.size >= timeline.iterations.size;
  const foldAll = (): void =>
    setFolded(new Set([...timeline.iterations.keys()].map((number) => `${timeline.runId}/${number}`)));
  const toggle = (key: string): void => {
    const next = new Set(folded);
    if (!next.delete(key)) next.add(key);
    setFolded(next);
  };
  return (
    <div className={css['timeline']}>
      <div className={css['bar']}>
        <Line>
          <ToggleButton
            isSelected={onlyFailed}
            onChange={(isOn) => onSearch({ failed: isOn ? true : undefined })}
            isDisabled={failed === 0 && !onlyFailed}
          >
            Only what failed ({count(failed)})
          </ToggleButton>
          <Button isSmall onPress={() => (isAllFolded ? setFolded(new Set()) : foldAll())}>
            {isAllFolded ? 'Unfold all' : 'Fold all'}
          </Button>
        </Line>
        {scale !== null && (
          <span className={css['scale']}>
            {duration(scale.to - scale.from)} in all
            {scale.idle.length > 0 &&
              `, ${duration(scale.idle.reduce((sum, { from, to }) => sum + to - from, 0))} idle`}
          </span>
        )}
      </div>
      {rows.length === 0 ? (
        <Empty title="Nothing failed in this run.">
          <Button onPress={() => onSearch({ failed: undefined })}>Show everything</Button>
        </Empty>
      ) : (
        <div className={css['scroller']} ref={scroller} tabIndex={0} role="region" aria-label="Timeline">
          <div className={css['rows']} role="list" style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map(({ index, key, start }) => {
              const row = rows[index];
              if (row === undefined) return null;
              return (
                <div
                  key={key}
                  role="listitem"
                  aria-setsize={rows.length}
                  aria-posinset={index + 1}
                  data-index={index}
                  ref={virtual.measureElement}
                  className={css['item']}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <TimelineRow
                    row={row}
                    scale={scale}
                    timeline={timeline}
                    question={question}
                    times={times}
                    openCall={openCall ?? null}
                    onOpenCall={(name, isInPlace) => {
                      inPlace.current = isInPlace ? name : null;
                      onSearch({ call: name ?? undefined });
                    }}
                    onToggle={toggle}
                  />
                </div>
              );
            })}
          </div>
        </div>
      )}
    </div>
  );
}
