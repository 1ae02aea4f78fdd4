import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/**
 * kafkajs 2.2.4 looks every millisecond, for each connection, whether a request waits to be sent, even if none does: with
 * dozens of connections that is a whole core for nothing, and a warning about negative timeouts. A request that comes
 * to wait starts the looking itself, so nothing is missed if it stops when nothing waits.
 */
export function restIdleConnections(): void {
  const { prototype } = RequestQueue;
  if (resting.has(prototype.scheduleCheckPendingRequests)) return;
  const look = prototype.scheduleCheckPendingRequests;
  const lookIfNeeded = function (this: RequestQueue): void {
    if (this.pending.length > 0) look.call(this);
  };
  resting.add(lookIfNeeded);
  prototype.scheduleCheckPendingRequests = lookIfNeeded;
}

const resting = new WeakSet<() => void>();
