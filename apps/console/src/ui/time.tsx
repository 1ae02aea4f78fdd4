import { useEffect, useState } from 'react';
import { dateTime, duration, relative, utc } from './format.js';

/** A moment: as long ago as it is, with the reader’s zone and UTC on hover and for screen readers. */
export function Moment({ at, isExact = false }: { readonly at: number; readonly isExact?: boolean }) {
  const now = useNow(isExact ? null : 10_000);
  return (
    <time dateTime={utc(at)} title={`${dateTime(at)} · ${utc(at)}`}>
      {isExact ? dateTime(at) : relative(at, now)}
    </time>
  );
}

/** From one moment to another, or to now, where it goes on. */
export function Elapsed({ from, to }: { readonly from: number; readonly to: number | null }) {
  const now = useNow(to === null ? 1_000 : null);
  return <span>{duration((to ?? Math.max(now, from)) - from)}</span>;
}

/** The time, again every so many milliseconds; null for never. */
export function useNow(everyMs: number | null): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (everyMs === null) return undefined;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
