import { catchUps, overlaps, quote } from '@sluice/core';
import type { ScheduleSettings } from '@sluice/core';
import { readCallers } from './callers.js';
import { cronProblem, isTimeZone } from './due-times.js';
import { configurationKeys } from './keys.js';
import { ownEntries, readOwnRequest } from './own-requests.js';
import type { RequestWorld } from './own-requests.js';
import type { Section } from './section.js';

const jitterSeconds = { byDefault: 0, least: 0, most: 3_600 };
const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/** `schedule`: requests that are made at certain times. */
export function readSchedules(section: Section, world: RequestWorld): readonly ScheduleSettings[] {
  return ownEntries(section, configurationKeys['schedule.<schedule>']).flatMap(
    ([name, entry]) => readSchedule(name, entry, world) ?? [],
  );
}

function readSchedule(name: string, section: Section, world: RequestWorld): ScheduleSettings | null {
  const asked = readOwnRequest(name, section, world);
  const write = 'a cron expression such as `0 7 * * 1-5`';
  if (!section.has('cron')) section.problem(section.at('cron'), 'nothing', write);
  const cron = section.text('cron', write);
  const wrong = cron === null ? null : cronProblem(cron);
  if (wrong !== null) section.problem(section.at('cron'), wrong, `${write}: minute, hour, day, month, weekday`);
  const zone = section.text('time_zone', 'a time zone such as `Europe/Berlin`');
  if (zone !== null && !isTimeZone(zone))
    section.problem(section.at('time_zone'), `the time zone ${quote(zone)}`, 'one such as `Europe/Berlin`');
  const jitter = section.wholeNumber('jitter_seconds', jitterSeconds);
  const [from, until] = [readTime(section, 'from'), readTime(section, 'until')];
  if (from !== null && until !== null && from >= until)
    section.problem(section.at('until'), 'a time that is not behind `from`', 'a later one');
  const mayControl = readCallers(section, 'may_control');
  const overlap = section.choice('overlap', overlaps) ?? 'skip';
  const catchUp = section.choice('catch_up', catchUps) ?? 'last';
  if (asked === null || cron === null) return null;
  return {
    ...asked,
    ...{ cron, timeZone: zone ?? 'UTC', jitterMs: jitter * 1_000, overlap, catchUp },
    ...(from === null ? {} : { from }),
    ...(until === null ? {} : { until }),
    ...(mayControl === undefined ? {} : { mayControl }),
  };
}

/** YAML’s own times come as dates. */
function readTime(section: Section, key: 'from' | 'until'): number | null {
  const value = section.value(key);
  if (value === null) return null;
  const time = value instanceof Date ? value.getTime() : isIso(value) ? Date.parse(value) : NaN;
  if (!Number.isNaN(time)) return time;
  section.refuse(key, 'a time with its offset, such as `2027-01-31T09:00:00Z`');
  return null;
}

function isIso(value: unknown): value is string {
  return typeof value === 'string' && isoTime.test(value);
}
