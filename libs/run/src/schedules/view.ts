import type { ScheduleSettings } from '@sluice/core';
import type { ScheduleState } from './plan.js';

/** A schedule as operators see it; `next` is its next due time, `outcome` how its last run ended. */
export function scheduleView(
  schedule: ScheduleSettings,
  { paused, queue, last }: ScheduleState,
  { next, outcome }: { readonly next: number | null; readonly outcome: string | null },
) {
  const { name, tenant, principal, cron, timeZone, overlap, catchUp } = schedule;
  return {
    ...{ name, tenant, principal, cron, time_zone: timeZone, overlap, catch_up: catchUp },
    next_due: paused === null ? next : null,
    paused_by: paused?.by ?? null,
    paused_at: paused?.at ?? null,
    waiting: queue.length,
    last_run:
      last === null
        ? null
        : {
            ...{ request_id: last.requestId, due: last.due, started_at: last.startedAt },
            ...{ started_by: last.by ?? null, outcome },
          },
  };
}
