import { RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { RateAnswer, RateRequest } from '@sluice/core';

/** Counts one at the store. A limit and a window are the limiter's own, so each pair has a limiter; there are as many as are configured. */
export function counterOf(
  limiterFor: (options: {
    readonly points: number;
    readonly duration: number;
    readonly keyPrefix: string;
  }) => RateLimiterAbstract,
): (request: RateRequest) => Promise<RateAnswer> {
  const limiters = new Map<string, RateLimiterAbstract>();
  return async ({ key, limit, windowMs }) => {
    const pair = `${limit}/${windowMs}`;
    let limiter = limiters.get(pair);
    // No prefix: the window of a key is the same one whatever limit it is held to, so that a new limit does not begin a new window.
    if (limiter === undefined)
      limiters.set(pair, (limiter = limiterFor({ points: limit, duration: windowMs / 1_000, keyPrefix: '' })));
    try {
      await limiter.consume(key);
      return { within: true };
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return { within: false, retryAfterMs: refusal.msBeforeNext };
    }
  };
}
