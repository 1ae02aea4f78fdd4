import type { Request } from 'express';
import { longestCancelReason } from '@sluice/run';
import { Refusal } from './refusal.js';
import { strictBody } from './strict-body.js';

/** Why the caller cancels its run, '' where it does not say. Throws Refusal(400) with what to change. */
export function cancelReason(http: Request): string {
  if (http.get('transfer-encoding') === undefined && Number(http.get('content-length') ?? 0) === 0) return '';
  const body = strictBody(http, ['Cancellation'], ['reason']);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Refusal(400, 'invalid_request', 'The body must be an object, or be left out.');
  const { reason = '' } = body as { readonly reason?: unknown };
  if (typeof reason !== 'string' || reason.length > longestCancelReason)
    throw new Refusal(400, 'invalid_request', `reason must be text of at most ${longestCancelReason} characters.`);
  return reason.toWellFormed();
}
