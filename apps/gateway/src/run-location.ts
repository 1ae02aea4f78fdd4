import type { RequestTopic } from '@sluice/contracts';
import { clockSkewMs } from '@sluice/core';
import { requestIds } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { Refusal } from './refusal.js';
import { timeForms, timeOf } from './times.js';

/** Where a run is to be found on the log. */
export interface RunLocation {
  readonly requestId: string;
  readonly sessionId: string;
  /** Milliseconds since the epoch; no record of the run is older. */
  readonly since: number;
}

/** The parameters that say where, as the description has them. Without them the ledger says it. */
export const locationParameters = {
  session_id: 'The session of the run, beside `since`; where it is the request_id it may be left out.',
  since: `From when on to look for the run: ${timeForms}. It may be left out once a filter has taken the request.`,
  token: 'Of the link that the answer to its `POST` has: what it needs where no identity is configured.',
} as const;

/** The place of a run that is asked for now. */
export function beginOf(
  { requestId, sessionId }: { readonly requestId: string; readonly sessionId: string },
  now: number,
): RunLocation {
  return { requestId, sessionId, since: now - clockSkewMs };
}

/** The place of a run whose request stands there. */
export function locationOfRequest(message: Incoming<RequestTopic>): RunLocation {
  return { ...requestIds(message, message.record), since: Math.max(0, message.timestamp - clockSkewMs) };
}

/** Where a run is to be seen, at any instance; with the token that the link needs without an identity. */
export function whereIs({ requestId, sessionId, since }: RunLocation, token: string | null = null): string {
  const query = new URLSearchParams({ session_id: sessionId, since: String(since) });
  if (token !== null) query.set('token', token);
  return `/v1/runs/${encodeURIComponent(requestId)}?${query.toString()}`;
}

export interface RunQuery {
  readonly requestId: string;
  readonly query: Readonly<Record<string, unknown>>;
}

/**
 * The place that a caller asks for; null where the request_id alone names the run. Throws Refusal(400) with what to
 * write.
 */
export function locationOfLink({ requestId, query }: RunQuery, now: number): RunLocation | null {
  if (query['since'] === undefined) return null;
  const { session_id: sessionId = requestId, since } = query;
  if (typeof sessionId !== 'string' || sessionId === '')
    throw new Refusal(
      400,
      'invalid_request',
      'session_id must be the id of the run’s session; where it is the request_id it may be left out.',
    );
  const time = typeof since !== 'string' ? NaN : timeOf(since, now);
  if (Number.isNaN(time))
    throw new Refusal(
      400,
      'invalid_request',
      `since must say from when on to look for the run: ${timeForms}. The header location of the answer to its POST has it.`,
    );
  // Brokers take times before the epoch for something else.
  return { requestId, sessionId, since: Math.max(0, time) };
}
