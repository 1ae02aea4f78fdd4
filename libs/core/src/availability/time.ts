import type { TimeCondition } from './types.js';

const minute = 60_000;
/** Offsets from UTC change at full quarters of an hour, in every zone since 1972. */
const quarter = 15 * minute;
const day = 24 * 60;
/** Quarters of an hour that are remembered for each zone: a live service needs one, a replay as many as it reads. */
const mostQuarters = 4_096;

/** The wall clock of a zone, as if it were UTC, milliseconds since the epoch. */
type WallClock = (at: number) => number;

const clocks = new Map<string, WallClock>();

/**
 * Whether the window is open at the instant: by the wall clock there, so that a change to summer time moves nothing.
 */
export function isWithinTime({ zone, days, from, until, holidays }: TimeCondition, at: number): boolean {
  const wall = wallClock(zone)(at);
  const minutes = Math.floor(wall / minute);
  const today = Math.floor(minutes / day);
  const now = minutes - today * day;
  const begins = (date: number): boolean => days.includes(weekday(date)) && !isHoliday(date, holidays);
  if (from < until) return now >= from && now < until && begins(today);
  return (now >= from && begins(today)) || (now < until && begins(today - 1));
}

/**
 * As `isWithinTime`, with the last minute remembered: windows begin and end with a minute, and many decisions fall
 * into one.
 */
export function openInMinute(window: TimeCondition): (at: number) => boolean {
  let last = NaN;
  let isOpen = false;
  return (at) => {
    const now = Math.floor(at / minute);
    if (now !== last) {
      isOpen = isWithinTime(window, at);
      last = now;
    }
    return isOpen;
  };
}

/** Whether there is such a time zone, by its name in the IANA database. */
export function isTimeZone(zone: string): boolean {
  // An offset such as `+02:00` is none: it knows no summer time.
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).format(0) !== '';
  } catch {
    return false;
  }
}

/** 1 January 1970 was a Thursday. */
function weekday(date: number): number {
  return (((date + 4) % 7) + 7) % 7;
}

function isHoliday(date: number, holidays: readonly string[]): boolean {
  return holidays.length > 0 && holidays.includes(new Date(date * day * minute).toISOString().slice(0, 10));
}

function wallClock(zone: string): WallClock {
  let clock = clocks.get(zone);
  if (clock === undefined) clocks.set(zone, (clock = newWallClock(zone)));
  return clock;
}

/** Asking Intl takes microseconds, so each quarter of an hour is asked once. */
function newWallClock(timeZone: string): WallClock {
  const format = new Intl.DateTimeFormat('en', {
    ...{ timeZone, calendar: 'iso8601', hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  const offsets = new Map<number, number>();
  return (at) => {
    const slot = Math.floor(at / quarter);
    let offset = offsets.get(slot);
    if (offset === undefined) {
      if (offsets.size >= mostQuarters) offsets.clear();
      const parts = new Map(format.formatToParts(slot * quarter).map(({ type, value }) => [type, Number(value)]));
      const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
      const date = Date.UTC(part('year'), part('month') - 1, part('day'));
      offset = date + ((part('hour') * 60 + part('minute')) * 60 + part('second')) * 1_000 - slot * quarter;
      offsets.set(slot, offset);
    }
    return at + offset;
  };
}
