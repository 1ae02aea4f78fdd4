import { nearest } from '@sluice/core';
import { dayOf, usageDimensions } from '@sluice/projection';
import type { UsageDimension } from '@sluice/projection';
import { between, invalid, limitOf, mostListed, parametersOf } from '../lists/list-query.js';
import { tenantParameter } from '../run-readers.js';
import { timeForms } from '../times.js';

const dayMs = 86_400_000;
/** Days that one answer adds up, at most. */
const mostDays = 400;
const usualDays = 30;

/** The parameters of `GET /v1/usage`, as its page and its description have them. */
export const usageParameters = {
  by: '`user`, `model`, `day`, `outcome` or `tool`; for operators `tenant`, over all of them. `day` unless given.',
  since: `From the UTC day of this time on: ${timeForms}. ${usualDays} days back unless given, ${mostDays} at most.`,
  until: 'Up to and with the UTC day of this time.',
  ...tenantParameter,
  limit: `So many rows, 1 to ${mostListed}; 50 unless given.`,
} as const;

interface UsageQuery {
  readonly by: UsageDimension;
  /** Whole days, the last one excluded. */
  readonly since: number;
  readonly until: number;
  readonly tenant: string | undefined;
  readonly limit: number;
}

/** Throws Refusal(400) with what to write. */
export function usageQuery(query: Readonly<Record<string, unknown>>, now: number): UsageQuery {
  const { by = 'day', since, until, tenant, limit } = parametersOf(query, usageParameters);
  const dimension = usageDimensions.find((one) => one === by);
  if (dimension === undefined) throw invalid(unknownDimension(by));
  if (tenant !== undefined && dimension === 'tenant')
    throw invalid('by=tenant adds up every tenant: leave tenant out.');
  const span = between(since, until, now);
  const to = dayOf(span.until ?? now) + dayMs;
  const from = Math.max(dayOf(span.since ?? to - usualDays * dayMs), to - mostDays * dayMs);
  return { by: dimension, since: from, until: to, tenant, limit: limitOf(limit) };
}

function unknownDimension(by: string): string {
  const near = nearest(by, usageDimensions);
  return `by must be one of ${usageDimensions.join(', ')}.${near === undefined ? '' : ` Did you mean ${near}?`}`;
}
