import type { NextFunction, Request, Response } from 'express';
import { otherLabel } from '@sluice/run';
import type { Metrics } from '@sluice/host';

/**
 * Counts each request when it is answered, or its sender gone; by the route as it is written, not by what stands in
 * its place.
 */
export function countRequests({ httpRequests }: Pick<Metrics, 'httpRequests'>) {
  return (request: Request, response: Response, next: NextFunction): void => {
    response.once('close', () => {
      const { path = otherLabel } = (request.route as { readonly path?: string } | undefined) ?? {};
      httpRequests.inc({ route: path, status: String(response.statusCode) });
    });
    next();
  };
}
