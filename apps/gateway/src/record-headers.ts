import type { Request } from 'express';
import type { Runtime } from '@sluice/host';
import { isOpen } from './local-access.js';

/** The trace that the run belongs to (docs/upstream.md). */
const traceHeaders = ['traceparent', 'tracestate'] as const;

/**
 * The headers of the record that a request becomes: the trace, and where an identity is configured the credential of who asks. Without one the
 * header may hold the local secret, which does not belong on the log.
 */
export function recordHeaders(
  request: Pick<Request, 'get'>,
  runtime: Pick<Runtime, 'configurations'>,
): Readonly<Record<string, string>> {
  const names = isOpen(runtime) ? traceHeaders : (['authorization', ...traceHeaders] as const);
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = request.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
