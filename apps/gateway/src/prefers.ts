import type { Request } from 'express';

/** How a caller wants to hear of its run. */
export type Preference =
  | { readonly kind: 'stream' }
  /** The end, if it comes in so many milliseconds; 0: at once, whether it is there or not. */
  | { readonly kind: 'wait'; readonly milliseconds: number };

/** The longest wait, in seconds; connections are often cut at a minute. */
const longestWait = 55;

/**
 * `Accept: text/event-stream` streams the run; else `Prefer: wait=<seconds>` (RFC 7240) says how long to wait for the
 * end.
 */
export function prefers(request: Pick<Request, 'get' | 'accepts'>): Preference {
  // Only where it is named: `*/*` is what clients send by default. `q=0` names what is not wanted.
  const names = /\btext\/event-stream\b/i.test(request.get('accept') ?? '');
  if (names && request.accepts('text/event-stream') !== false) return { kind: 'stream' };
  const seconds = Number(
    /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?(?:$|[,;\s])/i.exec(request.get('prefer') ?? '')?.[1] ?? 0,
  );
  return { kind: 'wait', milliseconds: Math.min(seconds, longestWait) * 1_000 };
}
