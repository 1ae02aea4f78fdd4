import type { NextFunction, Request, Response } from 'express';

/** What a page may send and read beside what every page may. */
const sent = 'authorization, content-type, prefer, idempotency-key, if-none-match, traceparent, tracestate';
const read = 'location, link, etag, retry-after, ratelimit, ratelimit-policy, www-authenticate';
/** How long a browser may keep the answer to its question, seconds. */
const keptSeconds = '600';

/**
 * Lets pages of these origins ask, and answers the question that their browsers ask before. Credentials are sent by
 * the page itself, in a header: none that a browser adds by itself counts here. To other origins nothing is said, so
 * their browsers keep the answer from them.
 */
export function allowOrigins(origins: readonly string[]) {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (origins.length === 0) return next();
    response.vary('origin');
    const origin = request.get('origin');
    if (origin === undefined || !origins.includes(origin)) return next();
    response.set({ 'access-control-allow-origin': origin, 'access-control-expose-headers': read });
    if (request.method !== 'OPTIONS' || request.get('access-control-request-method') === undefined) return next();
    response.set({
      'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
      'access-control-allow-headers': sent,
      'access-control-max-age': keptSeconds,
    });
    response.status(204).end();
  };
}
