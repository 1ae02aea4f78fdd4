import type { Request } from 'express';

/** Those of a request that mean something on a record: who asks, and the trace that the run belongs to (docs/upstream.md). */
const passedOn = ['authorization', 'traceparent', 'tracestate'] as const;

/** The headers of the record that a request becomes. */
export function recordHeaders(request: Pick<Request, 'get'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    passedOn.flatMap((name) => {
      const value = request.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
