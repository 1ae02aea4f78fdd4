import type { Kinds } from './kinds.js';

/** Runs that start by themselves; schedules are those of the configuration. */
export function scheduleMetrics({ counter, gauge }: Kinds) {
  return {
    scheduleStarts: counter('sluice_schedule_starts_total', 'Runs that a schedule started.', 'schedule'),
    scheduleSkips: counter(
      'sluice_schedule_skips_total',
      'Due times at which a schedule started no run, by reason: missed, paused, overlap or queue_full.',
      'schedule',
      'reason',
    ),
    scheduleLate: gauge(
      'sluice_schedule_late_seconds',
      'How late the oldest run is that a schedule has not started yet; 0 if none is.',
      'schedule',
    ),
  };
}
