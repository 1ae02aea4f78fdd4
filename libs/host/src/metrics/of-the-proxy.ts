import { type Kinds, seconds } from './kinds.js';

/** What the proxy in front of model APIs does. Upstreams are labelled by their names in the configuration. */
export function proxyMetrics({ counter, gauge, histogram }: Kinds) {
  return {
    proxyRequests: counter(
      'sluice_proxy_requests_total',
      'Requests that the proxy sent to an upstream, by its status, or why there was none: no_upstream, unreachable, timeout, broken_off, refused or unreadable.',
      'upstream',
      'status',
    ),
    proxyFirstByte: histogram(
      'sluice_proxy_upstream_seconds',
      'Time from sending a request to an upstream to the head of its answer.',
      seconds,
      'upstream',
    ),
    proxyFallbacks: counter(
      'sluice_proxy_fallbacks_total',
      'Requests that went on to the next upstream, by the one that failed.',
      'upstream',
    ),
    proxyOpen: gauge('sluice_proxy_requests_open', 'Requests that the proxy has received and not finished.'),
  };
}
