import type { Value } from './stores/store.js';

type Select = readonly [text: string, values: readonly Value[]];

/** A run that had not ended at its deadline, as its records have that. */
export interface LateRun {
  readonly tenant: string;
  readonly requestId: string;
  readonly deadline: number;
}

/** Runs of all tenants that have not ended and whose deadline was before, the latest ones last. */
export function lateRuns(before: number, limit: number): Select {
  const text = `SELECT tenant, request_id AS "requestId", deadline FROM runs
    WHERE ended_at IS NULL AND deadline > 0 AND deadline < ? ORDER BY deadline LIMIT ?`;
  return [text, [before, limit]];
}

/** How many runs of all tenants have not ended, and when the first of them began. */
export const openRuns =
  'SELECT count(*) AS count, min(started_at) AS "oldestAt" FROM runs WHERE ended_at IS NULL AND deadline >= 0';

/** How many calls of all tenants wait for an approval at this time, and since when the first of them does. */
export const waitingCalls =
  'SELECT count(*) AS count, min(requested_at) AS "oldestAt" FROM approvals WHERE is_open = 1 AND expires_at > ?';

/** How many dead letters there are since this time, and when the latest was written. */
export const lettersSince = 'SELECT count(*) AS count, max(failed_at) AS "latestAt" FROM letters WHERE failed_at >= ?';
