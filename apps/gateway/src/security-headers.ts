import type { NextFunction, Request, Response } from 'express';

/**
 * For every answer, refusals included, unless a route says otherwise: each is for its caller alone, and none is to be
 * read as another type.
 */
const headers = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

export function securityHeaders(_request: Request, response: Response, next: NextFunction): void {
  response.set(headers);
  next();
}
