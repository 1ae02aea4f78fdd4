import type * as Library from 'rate-limiter-flexible';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { RateAnswer, RateRequest } from '@sluice/core';

/** What a limiter is made of, whatever its store. */
interface LimiterOptions {
  readonly points: number;
  /** Seconds. */
  readonly duration: number;
  readonly keyPrefix: string;
}

/**
 * Counts one at the store. A limit and a window are the limiter's own, so each pair has a limiter; there are as many
 * as are configured. The library is loaded with the first call that is counted: it takes 10 MB, and most processes
 * count none.
 */
export function counterOf(
  limiterFor: (library: typeof Library, options: LimiterOptions) => RateLimiterAbstract,
): (request: RateRequest) => Promise<RateAnswer> {
  const limiters = new Map<string, RateLimiterAbstract>();
  return async ({ key, limit, windowMs }) => {
    const library = await import('rate-limiter-flexible');
    const pair = `${limit}/${windowMs}`;
    let limiter = limiters.get(pair);
    // No prefix: the window of a key is the same one whatever limit it is held to, so that a new limit does not begin
    // a new window.
    if (limiter === undefined) {
      limiter = limiterFor(library, { points: limit, duration: windowMs / 1_000, keyPrefix: '' });
      limiters.set(pair, limiter);
    }
    try {
      const { remainingPoints: remaining, msBeforeNext: resetMs } = await limiter.consume(key);
      return { within: true, remaining, resetMs };
    } catch (refusal) {
      if (!(refusal instanceof library.RateLimiterRes)) throw refusal;
      return { within: false, retryAfterMs: refusal.msBeforeNext };
    }
  };
}
