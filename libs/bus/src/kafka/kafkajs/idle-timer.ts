import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { once } from './once.js';

/**
 * kafkajs 2.2.4 looks every millisecond, for each connection, whether a request waits to be sent, even if none does:
 * with dozens of connections that is a whole core for nothing, and a warning about negative timeouts. A request that
 * comes to wait starts the looking itself, so nothing is missed if it stops when nothing waits.
 */
export const restIdleConnections = once(() => {
  const { scheduleCheckPendingRequests: look } = RequestQueue.prototype;
  RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0) look.call(this);
  };
});
