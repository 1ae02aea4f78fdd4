import { Cron } from 'croner';
import type { ScheduleSettings } from '@sluice/core';

type Times = Pick<ScheduleSettings, 'cron' | 'timeZone' | 'from' | 'until'>;

/**
 * The due times after one time and up to another, the oldest first; of more than `most` the last ones. A fixed time
 * of day in the gap of a clock change is due right behind the gap, and one that occurs twice is due once.
 */
export function dueTimes(times: Times, after: number, to: number, most: number): readonly number[] {
  const { from = -Infinity, until = Infinity } = times;
  const last = Math.min(to, until - 1);
  if (last <= after) return [];
  // What is due at the reference itself is no previous one.
  const found = jobOf(times).previousRuns(most, new Date(last + 1));
  return found
    .map((time) => time.getTime())
    .filter((time) => time > after && time >= from)
    .reverse();
}

/** The first due time after that one; null if there is none. */
export function nextDue(times: Times, after: number): number | null {
  const { from = -Infinity, until = Infinity } = times;
  // What is due at `from` itself counts.
  const next =
    jobOf(times)
      .nextRun(new Date(Math.max(after, from - 1_000)))
      ?.getTime() ?? null;
  return next === null || next >= until ? null : next;
}

/** What is wrong with a cron expression, as a clause; null if nothing is. */
export function cronProblem(cron: string): string | null {
  // The library takes a date for one as well, which is never due again once it is past.
  if (cron.trim().split(/\s+/).length !== 5) return 'no cron expression of five fields';
  try {
    return new Cron(cron, { timezone: 'UTC', mode: '5-part', paused: true }).nextRun() === null
      ? 'a cron expression that is never due'
      : null;
  } catch {
    return 'no cron expression of five fields';
  }
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function jobOf({ cron, timeZone }: Times): Cron {
  return new Cron(cron, { timezone: timeZone, mode: '5-part', paused: true });
}
