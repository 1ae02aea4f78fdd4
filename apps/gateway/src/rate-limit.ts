import type { Response } from 'express';
import type { Principal } from '@sluice/core';
import type { Runtime } from '@sluice/host';
import { Refusal } from './refusal.js';

const minuteMs = 60_000;
/** Names the limit in the headers. */
const policy = '"minute"';

/**
 * Counts a request of the caller against its limit a minute, over all instances, and says in headers how much is left
 * (draft-ietf-httpapi-ratelimit-headers). Throws Refusal(429) for what is beyond it, and what the limiter throws: who
 * cannot be counted does not pass.
 */
export async function countCaller(
  { tenantId, actorId }: Pick<Principal, 'tenantId' | 'actorId'>,
  response: Pick<Response, 'set'> | undefined,
  { environment, rates }: Pick<Runtime, 'environment' | 'rates'>,
): Promise<void> {
  const { httpRequestsPerMinute: limit } = environment;
  if (limit === 0) return;
  const answer = await rates.take({ key: `http/${JSON.stringify([tenantId, actorId])}`, limit, windowMs: minuteMs });
  const [left, untilMs] = answer.within ? [answer.remaining, answer.resetMs] : [0, answer.retryAfterMs];
  const seconds = Math.max(1, Math.ceil(untilMs / 1_000));
  response?.set({
    'ratelimit-policy': `${policy};q=${limit};w=${minuteMs / 1_000}`,
    ratelimit: `${policy};r=${left};t=${seconds}`,
  });
  if (answer.within) return;
  const message = `This caller may make ${limit} requests in a minute. Try again in ${seconds} s.`;
  throw new Refusal(429, 'rate_limited', message, { 'retry-after': String(seconds) });
}
